//! The JSON Schema of the lane file, for editors: `#:schema ./lanes.schema.json`.

use serde_json::{Map, Value, json};

use super::keys::{Form, Key, Named, Table, tables};

/// The schema as text, with a line feed at its end.
///
/// It says what keys and types there are. What needs more than one value (names that must be
/// declared, keys that exclude each other) is said by `lanekit check`.
#[must_use]
pub fn schema() -> String {
    let tables = tables();
    let mut schema = object(tables[0]);
    schema.insert(
        "$schema".into(),
        json!("http://json-schema.org/draft-07/schema#"),
    );
    schema.insert("title".into(), json!("lanekit lane file"));
    let definitions: Map<String, Value> = tables[1..]
        .iter()
        .map(|table| (table.name.to_owned(), Value::Object(object(table))))
        .collect();
    schema.insert("definitions".into(), Value::Object(definitions));
    format!("{:#}\n", Value::Object(schema))
}

fn object(table: &Table) -> Map<String, Value> {
    let properties: Map<String, Value> = table
        .keys()
        .map(|key| (key.name.to_owned(), property(key)))
        .collect();
    let needed = table.keys().filter(|key| key.default.is_none());
    let needed: Vec<&str> = needed.map(|key| key.name).collect();
    let mut object = Map::new();
    object.insert("type".into(), json!("object"));
    object.insert("description".into(), json!(table.about));
    object.insert("properties".into(), Value::Object(properties));
    object.insert("additionalProperties".into(), json!(false));
    if !needed.is_empty() {
        object.insert("required".into(), json!(needed));
    }
    object
}

fn property(key: &Key) -> Value {
    let mut property = match form(key.form) {
        // Beside a reference nothing else is read.
        Value::Object(map) if map.contains_key("$ref") => {
            Map::from_iter([("allOf".to_owned(), json!([map]))])
        }
        Value::Object(map) => map,
        other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
    };
    let default = match key.default {
        None => " (needed)".to_owned(),
        Some("") => String::new(),
        Some(default) => format!(" (default: {default})"),
    };
    property.insert(
        "description".into(),
        json!(format!("{}{default}", key.about)),
    );
    Value::Object(property)
}

fn form(of: Form) -> Value {
    match of {
        Form::Text | Form::Values => json!({ "type": "string" }),
        Form::Bool => json!({ "type": "boolean" }),
        Form::Whole => json!({ "type": "integer" }),
        Form::Date => json!({ "type": "string", "format": "date" }),
        Form::Word(words) => json!({ "type": "string", "enum": words }),
        Form::Anything => json!(true),
        Form::Any(forms) => json!({ "anyOf": forms.iter().copied().map(form).collect::<Vec<_>>() }),
        Form::List(inner) => json!({ "type": "array", "items": form(*inner) }),
        Form::Table(table) => json!({ "$ref": format!("#/definitions/{}", table.name) }),
        Form::Names(named, inner) => {
            let mut object = json!({ "type": "object", "additionalProperties": form(*inner) });
            let pattern = match named {
                Named::Variable => Some("^[A-Za-z_][A-Za-z0-9_]*$"),
                Named::Word => Some("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"),
                Named::Free => None,
            };
            if let Some(pattern) = pattern {
                object["propertyNames"] = json!({ "pattern": pattern });
            }
            object
        }
    }
}
