// @generated from llb/proto/gateway.proto by `cargo xtask codegen` (prost-build, tonic-prost-build).
// Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.
/// Generated client implementations.
pub mod llb_bridge_client {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    use tonic::codegen::http::Uri;
    /// The service; the frontend is its client, on its stdin and stdout.
    #[derive(Debug, Clone)]
    pub struct LlbBridgeClient<T> {
        inner: tonic::client::Grpc<T>,
    }
    impl<T> LlbBridgeClient<T>
    where
        T: tonic::client::GrpcService<tonic::body::Body>,
        T::Error: Into<StdError>,
        T::ResponseBody: Body<Data = Bytes> + std::marker::Send + 'static,
        <T::ResponseBody as Body>::Error: Into<StdError> + std::marker::Send,
    {
        pub fn new(inner: T) -> Self {
            let inner = tonic::client::Grpc::new(inner);
            Self { inner }
        }
        pub fn with_origin(inner: T, origin: Uri) -> Self {
            let inner = tonic::client::Grpc::with_origin(inner, origin);
            Self { inner }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> LlbBridgeClient<InterceptedService<T, F>>
        where
            F: tonic::service::Interceptor,
            T::ResponseBody: Default,
            T: tonic::codegen::Service<
                http::Request<tonic::body::Body>,
                Response = http::Response<
                    <T as tonic::client::GrpcService<tonic::body::Body>>::ResponseBody,
                >,
            >,
            <T as tonic::codegen::Service<
                http::Request<tonic::body::Body>,
            >>::Error: Into<StdError> + std::marker::Send + std::marker::Sync,
        {
            LlbBridgeClient::new(InterceptedService::new(inner, interceptor))
        }
        /// Compress requests with the given encoding.
        ///
        /// This requires the server to support it otherwise it might respond with an
        /// error.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.send_compressed(encoding);
            self
        }
        /// Enable decompressing responses.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.accept_compressed(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_decoding_message_size(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_encoding_message_size(limit);
            self
        }
        /// The config and digest of an image; where ResolveSourceMeta is missing.
        pub async fn resolve_image_config(
            &mut self,
            request: impl tonic::IntoRequest<
                ::llb::proto::gateway::ResolveImageConfigRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ResolveImageConfigResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/ResolveImageConfig",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new(
                        "moby.buildkit.v1.frontend.LLBBridge",
                        "ResolveImageConfig",
                    ),
                );
            self.inner.unary(req, path, codec).await
        }
        /// What a source resolves to: digest and config, commit, checksum.
        pub async fn resolve_source_meta(
            &mut self,
            request: impl tonic::IntoRequest<
                ::llb::proto::gateway::ResolveSourceMetaRequest,
            >,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ResolveSourceMetaResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/ResolveSourceMeta",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new(
                        "moby.buildkit.v1.frontend.LLBBridge",
                        "ResolveSourceMeta",
                    ),
                );
            self.inner.unary(req, path, codec).await
        }
        /// Loads a graph and gives a ref to its result. Nothing runs until the
        /// result is read, evaluated or exported.
        pub async fn solve(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::SolveRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::SolveResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/Solve",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "Solve"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn read_file(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::ReadFileRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ReadFileResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/ReadFile",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "ReadFile"),
                );
            self.inner.unary(req, path, codec).await
        }
        pub async fn read_dir(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::ReadDirRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ReadDirResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/ReadDir",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "ReadDir"),
                );
            self.inner.unary(req, path, codec).await
        }
        pub async fn stat_file(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::StatFileRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::StatFileResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/StatFile",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "StatFile"),
                );
            self.inner.unary(req, path, codec).await
        }
        /// Makes a ref's result exist.
        pub async fn evaluate(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::EvaluateRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::EvaluateResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/Evaluate",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "Evaluate"),
                );
            self.inner.unary(req, path, codec).await
        }
        /// What the engine can do; the first call.
        pub async fn ping(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::PingRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::PongResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/Ping",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "Ping"));
            self.inner.unary(req, path, codec).await
        }
        /// The result or the error of the build; exactly once, never empty.
        pub async fn r#return(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::ReturnRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ReturnResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/Return",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "Return"),
                );
            self.inner.unary(req, path, codec).await
        }
        /// Graphs that the caller hands in, by name.
        pub async fn inputs(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::InputsRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::InputsResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/Inputs",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(
                    GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "Inputs"),
                );
            self.inner.unary(req, path, codec).await
        }
        /// A warning with a place in a file.
        pub async fn warn(
            &mut self,
            request: impl tonic::IntoRequest<::llb::proto::gateway::WarnRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::WarnResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/moby.buildkit.v1.frontend.LLBBridge/Warn",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("moby.buildkit.v1.frontend.LLBBridge", "Warn"));
            self.inner.unary(req, path, codec).await
        }
    }
}
/// Generated server implementations.
pub mod llb_bridge_server {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    /// Generated trait containing gRPC methods that should be implemented for use with LlbBridgeServer.
    #[async_trait]
    pub trait LlbBridge: std::marker::Send + std::marker::Sync + 'static {
        /// The config and digest of an image; where ResolveSourceMeta is missing.
        async fn resolve_image_config(
            &self,
            request: tonic::Request<::llb::proto::gateway::ResolveImageConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ResolveImageConfigResponse>,
            tonic::Status,
        >;
        /// What a source resolves to: digest and config, commit, checksum.
        async fn resolve_source_meta(
            &self,
            request: tonic::Request<::llb::proto::gateway::ResolveSourceMetaRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ResolveSourceMetaResponse>,
            tonic::Status,
        >;
        /// Loads a graph and gives a ref to its result. Nothing runs until the
        /// result is read, evaluated or exported.
        async fn solve(
            &self,
            request: tonic::Request<::llb::proto::gateway::SolveRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::SolveResponse>,
            tonic::Status,
        >;
        async fn read_file(
            &self,
            request: tonic::Request<::llb::proto::gateway::ReadFileRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ReadFileResponse>,
            tonic::Status,
        >;
        async fn read_dir(
            &self,
            request: tonic::Request<::llb::proto::gateway::ReadDirRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ReadDirResponse>,
            tonic::Status,
        >;
        async fn stat_file(
            &self,
            request: tonic::Request<::llb::proto::gateway::StatFileRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::StatFileResponse>,
            tonic::Status,
        >;
        /// Makes a ref's result exist.
        async fn evaluate(
            &self,
            request: tonic::Request<::llb::proto::gateway::EvaluateRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::EvaluateResponse>,
            tonic::Status,
        >;
        /// What the engine can do; the first call.
        async fn ping(
            &self,
            request: tonic::Request<::llb::proto::gateway::PingRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::PongResponse>,
            tonic::Status,
        >;
        /// The result or the error of the build; exactly once, never empty.
        async fn r#return(
            &self,
            request: tonic::Request<::llb::proto::gateway::ReturnRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::ReturnResponse>,
            tonic::Status,
        >;
        /// Graphs that the caller hands in, by name.
        async fn inputs(
            &self,
            request: tonic::Request<::llb::proto::gateway::InputsRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::InputsResponse>,
            tonic::Status,
        >;
        /// A warning with a place in a file.
        async fn warn(
            &self,
            request: tonic::Request<::llb::proto::gateway::WarnRequest>,
        ) -> std::result::Result<
            tonic::Response<::llb::proto::gateway::WarnResponse>,
            tonic::Status,
        >;
    }
    /// The service; the frontend is its client, on its stdin and stdout.
    #[derive(Debug)]
    pub struct LlbBridgeServer<T> {
        inner: Arc<T>,
        accept_compression_encodings: EnabledCompressionEncodings,
        send_compression_encodings: EnabledCompressionEncodings,
        max_decoding_message_size: Option<usize>,
        max_encoding_message_size: Option<usize>,
    }
    impl<T> LlbBridgeServer<T> {
        pub fn new(inner: T) -> Self {
            Self::from_arc(Arc::new(inner))
        }
        pub fn from_arc(inner: Arc<T>) -> Self {
            Self {
                inner,
                accept_compression_encodings: Default::default(),
                send_compression_encodings: Default::default(),
                max_decoding_message_size: None,
                max_encoding_message_size: None,
            }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> InterceptedService<Self, F>
        where
            F: tonic::service::Interceptor,
        {
            InterceptedService::new(Self::new(inner), interceptor)
        }
        /// Enable decompressing requests with the given encoding.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.accept_compression_encodings.enable(encoding);
            self
        }
        /// Compress responses with the given encoding, if the client supports it.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.send_compression_encodings.enable(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.max_decoding_message_size = Some(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.max_encoding_message_size = Some(limit);
            self
        }
    }
    impl<T, B> tonic::codegen::Service<http::Request<B>> for LlbBridgeServer<T>
    where
        T: LlbBridge,
        B: Body + std::marker::Send + 'static,
        B::Error: Into<StdError> + std::marker::Send + 'static,
    {
        type Response = http::Response<tonic::body::Body>;
        type Error = std::convert::Infallible;
        type Future = BoxFuture<Self::Response, Self::Error>;
        fn poll_ready(
            &mut self,
            _cx: &mut Context<'_>,
        ) -> Poll<std::result::Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, req: http::Request<B>) -> Self::Future {
            match req.uri().path() {
                "/moby.buildkit.v1.frontend.LLBBridge/ResolveImageConfig" => {
                    #[allow(non_camel_case_types)]
                    struct ResolveImageConfigSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<
                        ::llb::proto::gateway::ResolveImageConfigRequest,
                    > for ResolveImageConfigSvc<T> {
                        type Response = ::llb::proto::gateway::ResolveImageConfigResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::llb::proto::gateway::ResolveImageConfigRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::resolve_image_config(&inner, request)
                                    .await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ResolveImageConfigSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/ResolveSourceMeta" => {
                    #[allow(non_camel_case_types)]
                    struct ResolveSourceMetaSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<
                        ::llb::proto::gateway::ResolveSourceMetaRequest,
                    > for ResolveSourceMetaSvc<T> {
                        type Response = ::llb::proto::gateway::ResolveSourceMetaResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::llb::proto::gateway::ResolveSourceMetaRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::resolve_source_meta(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ResolveSourceMetaSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/Solve" => {
                    #[allow(non_camel_case_types)]
                    struct SolveSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::SolveRequest>
                    for SolveSvc<T> {
                        type Response = ::llb::proto::gateway::SolveResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<::llb::proto::gateway::SolveRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::solve(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = SolveSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/ReadFile" => {
                    #[allow(non_camel_case_types)]
                    struct ReadFileSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::ReadFileRequest>
                    for ReadFileSvc<T> {
                        type Response = ::llb::proto::gateway::ReadFileResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::llb::proto::gateway::ReadFileRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::read_file(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ReadFileSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/ReadDir" => {
                    #[allow(non_camel_case_types)]
                    struct ReadDirSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::ReadDirRequest>
                    for ReadDirSvc<T> {
                        type Response = ::llb::proto::gateway::ReadDirResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::llb::proto::gateway::ReadDirRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::read_dir(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ReadDirSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/StatFile" => {
                    #[allow(non_camel_case_types)]
                    struct StatFileSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::StatFileRequest>
                    for StatFileSvc<T> {
                        type Response = ::llb::proto::gateway::StatFileResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::llb::proto::gateway::StatFileRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::stat_file(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StatFileSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/Evaluate" => {
                    #[allow(non_camel_case_types)]
                    struct EvaluateSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::EvaluateRequest>
                    for EvaluateSvc<T> {
                        type Response = ::llb::proto::gateway::EvaluateResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                ::llb::proto::gateway::EvaluateRequest,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::evaluate(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = EvaluateSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/Ping" => {
                    #[allow(non_camel_case_types)]
                    struct PingSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::PingRequest>
                    for PingSvc<T> {
                        type Response = ::llb::proto::gateway::PongResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<::llb::proto::gateway::PingRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::ping(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = PingSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/Return" => {
                    #[allow(non_camel_case_types)]
                    struct ReturnSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::ReturnRequest>
                    for ReturnSvc<T> {
                        type Response = ::llb::proto::gateway::ReturnResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<::llb::proto::gateway::ReturnRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::r#return(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ReturnSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/Inputs" => {
                    #[allow(non_camel_case_types)]
                    struct InputsSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::InputsRequest>
                    for InputsSvc<T> {
                        type Response = ::llb::proto::gateway::InputsResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<::llb::proto::gateway::InputsRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::inputs(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = InputsSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/moby.buildkit.v1.frontend.LLBBridge/Warn" => {
                    #[allow(non_camel_case_types)]
                    struct WarnSvc<T: LlbBridge>(pub Arc<T>);
                    impl<
                        T: LlbBridge,
                    > tonic::server::UnaryService<::llb::proto::gateway::WarnRequest>
                    for WarnSvc<T> {
                        type Response = ::llb::proto::gateway::WarnResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<::llb::proto::gateway::WarnRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as LlbBridge>::warn(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = WarnSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                _ => {
                    Box::pin(async move {
                        let mut response = http::Response::new(
                            tonic::body::Body::default(),
                        );
                        let headers = response.headers_mut();
                        headers
                            .insert(
                                tonic::Status::GRPC_STATUS,
                                (tonic::Code::Unimplemented as i32).into(),
                            );
                        headers
                            .insert(
                                http::header::CONTENT_TYPE,
                                tonic::metadata::GRPC_CONTENT_TYPE,
                            );
                        Ok(response)
                    })
                }
            }
        }
    }
    impl<T> Clone for LlbBridgeServer<T> {
        fn clone(&self) -> Self {
            let inner = self.inner.clone();
            Self {
                inner,
                accept_compression_encodings: self.accept_compression_encodings,
                send_compression_encodings: self.send_compression_encodings,
                max_decoding_message_size: self.max_decoding_message_size,
                max_encoding_message_size: self.max_encoding_message_size,
            }
        }
    }
    /// Generated gRPC service name
    pub const SERVICE_NAME: &str = "moby.buildkit.v1.frontend.LLBBridge";
    impl<T> tonic::server::NamedService for LlbBridgeServer<T> {
        const NAME: &'static str = SERVICE_NAME;
    }
}
