//! A browser without a screen, told what to do through a pipe (the Chrome DevTools Protocol with
//! `--remote-debugging-pipe`: JSON messages that end with NUL, on descriptors 3 and 4).

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long the browser may take for anything.
const PATIENCE: Duration = Duration::from_secs(30);
/// What tests ask a page, beside what it is.
const LOOK: &str = include_str!("look.js");

/// How a page is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// `light` or `dark`.
    pub(crate) scheme: &'static str,
    /// Pixels of the window.
    pub(crate) size: (u32, u32),
}

/// A page in a browser of its own, which ends with it.
pub(crate) struct Page {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Value,
    calls: u64,
    /// What the page complained about.
    complaints: Vec<String>,
    _profile: TempDir,
}

impl Page {
    /// Opens a file.
    ///
    /// # Panics
    /// Here and below: when the browser does not do as it is told, which no test goes on after.
    pub(crate) fn open(file: &Path, look: Look) -> Self {
        let program = std::env::var("LANEKIT_TEST_BROWSER")
            .expect("LANEKIT_TEST_BROWSER: run `cargo xtask test --only pictures`");
        let profile = tempfile::tempdir().expect("a directory");
        // Descriptors 3 and 4 are the browser's; a shell gives them to it without unsafe code here.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
                "sh",
                &program,
            ])
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .args([
                "--disable-sync",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a browser");
        let to = child.stdin.take().expect("a pipe");
        let mut pipe = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, from) = mpsc::channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while pipe.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else {
                    break;
                };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut page = Self {
            child,
            to,
            from,
            session: Value::Null,
            calls: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        page.begin(file, look);
        page
    }

    fn begin(&mut self, file: &Path, look: Look) {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        self.session = self.call("Target.attachToTarget", attach)["sessionId"].take();
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        let (width, height) = look.size;
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!({ "name": "prefers-color-scheme", "value": look.scheme });
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [scheme] }),
        );
        let url = format!("file://{}", file.display());
        self.call("Page.navigate", json!({ "url": url }));
        self.event("Page.loadEventFired");
        self.eval::<Value>(&format!("{LOOK}; null"));
    }

    /// Calls a method of the protocol.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut call = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_null() {
            call["sessionId"] = self.session.clone();
        }
        let mut message = call.to_string().into_bytes();
        message.push(0);
        self.to.write_all(&message).expect("the browser listens");
        let mut answer = self.until(method, |message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    fn event(&mut self, name: &str) {
        self.until(name, |message| message["method"] == name);
    }

    /// The first message that is wanted; complaints on the way are kept.
    fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed());
            let message = self.from.recv_timeout(left);
            let message = message.unwrap_or_else(|error| panic!("{what}: {error}"));
            self.hear(&message);
            if wanted(&message) {
                return message;
            }
        }
    }

    fn hear(&mut self, message: &Value) {
        let params = &message["params"];
        let complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => &params["exceptionDetails"],
            Some("Log.entryAdded") => &params["entry"],
            Some("Runtime.consoleAPICalled") => params,
            _ => return,
        };
        self.complaints.push(complaint.to_string());
    }

    /// Fails when the page complained about anything, or said anything on the console.
    pub(crate) fn is_quiet(&mut self) {
        // What happened before this call is heard before its answer.
        self.eval::<Value>("null");
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
    }

    /// What an expression is.
    pub(crate) fn eval<T: DeserializeOwned>(&mut self, expression: &str) -> T {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", params);
        let wrong = &result["exceptionDetails"];
        assert!(wrong.is_null(), "{expression}: {wrong}");
        let value = result["result"]["value"].take();
        serde_json::from_value(value).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Clicks what an expression finds, in its middle, where a person sees it.
    pub(crate) fn click(&mut self, element: &str) {
        let (x, y) = self.hover(element);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Moves the pointer onto what an expression finds; where that is.
    pub(crate) fn hover(&mut self, element: &str) -> (f64, f64) {
        let (x, y): (f64, f64) = self.eval(&format!("look.middle({element})"));
        let event = json!({ "type": "mouseMoved", "x": x, "y": y });
        self.call("Input.dispatchMouseEvent", event);
        (x, y)
    }

    /// Presses a key: a letter, or a name as `Enter`.
    pub(crate) fn key(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let mut event = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if key.chars().count() == 1 {
            event["text"] = key.into();
        } else if key == "Enter" {
            event["text"] = "\r".into();
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Types a text.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Keeps a picture of the window as `NAME.png`, for people.
    pub(crate) fn shot(&mut self, name: &str) {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = shot["data"]
            .as_str()
            .and_then(|data| BASE64_STANDARD.decode(data).ok());
        let dir = std::env::var("LANEKIT_TEST_PICTURES").expect("LANEKIT_TEST_PICTURES");
        let file = PathBuf::from(dir).join(format!("{name}.png"));
        fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        fs::write(file, bytes.expect("a picture")).expect("a file");
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // Its own way to end takes its helpers with it.
        let close = b"{\"id\":0,\"method\":\"Browser.close\"}\0";
        let _ = self.to.write_all(close);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
