//! What people see of a file.

use std::fmt::{Display, Write as _};

use super::{Archive, Elf, Explained, Export, Facts, Part, Pe, Wheel};
use crate::name::Name;
use crate::verdict::number;

/// How many lines a list has unless all are asked for.
const SHORT: usize = 20;

/// The text; lists are cut after 20 lines unless `all`.
#[must_use]
pub fn text(file: &Explained, all: bool) -> String {
    let most = if all { usize::MAX } else { SHORT };
    let mut out = Out {
        text: String::new(),
        most,
    };
    out.line(0, &file.file);
    out.line(1, format_args!("sha256: {}", file.sha256));
    if file.container {
        let (inside, others) = (file.parts.len() as u64, file.others);
        let others = number(others, "other file");
        let parts = number(inside, "binary").replace("binarys", "binaries");
        let bytes = number(file.bytes, "byte");
        out.line(1, format_args!("zip, {bytes}: {parts}, {others}"));
    }
    if let Some(wheel) = &file.wheel {
        out.wheel(wheel);
    }
    for part in &file.parts {
        if file.container {
            out.line(0, &part.name);
        }
        out.part(part);
    }
    for problem in &file.problems {
        out.line(0, format_args!("error: {problem}"));
    }
    out.text
}

struct Out {
    text: String,
    most: usize,
}

impl Out {
    fn line(&mut self, depth: usize, text: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:1$}{text}", "", depth * 2);
    }

    /// `key: value`, where there is a value.
    fn value(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.line(1, format_args!("{key}: {value}"));
        }
    }

    /// A list below its heading, where it has entries.
    fn list<T>(&mut self, head: impl Display, list: &[T], show: impl Fn(&T) -> String) {
        if list.is_empty() {
            return;
        }
        self.line(1, format_args!("{head}:"));
        for entry in list.iter().take(self.most) {
            self.line(2, show(entry));
        }
        let hidden = list.len().saturating_sub(self.most);
        if hidden > 0 {
            self.line(2, format_args!("and {hidden} more (--all shows them)"));
        }
    }

    fn part(&mut self, part: &Part) {
        let class = part.class.as_deref();
        let class = class.map_or(String::new(), |class| format!(" for {class}"));
        let bytes = number(part.bytes, "byte");
        self.line(1, format_args!("{}{class}, {bytes}", part.format));
        self.list("built by", &part.built, String::clone);
        let gpus: Vec<(&String, &u64)> = part.gpu.iter().collect();
        self.list("code for GPUs", &gpus, |(gpu, count)| {
            format!("{gpu}: {count}")
        });
        match &part.facts {
            Facts::Pe(pe) => self.pe(pe),
            Facts::Elf(elf) => self.elf(elf),
            Facts::Archive(archive) => self.archive(archive),
            Facts::None {} => {}
        }
    }

    fn pe(&mut self, pe: &Pe) {
        self.line(1, format_args!("{} for {}", pe.kind, pe.subsystem));
        if pe.signatures.is_empty() {
            self.line(1, "not signed");
        }
        for signature in &pe.signatures {
            match &signature.problem {
                None => self.line(1, "signed"),
                Some(why) => self.line(1, format_args!("signed, and that does not hold: {why}")),
            }
            for link in &signature.chain {
                self.line(
                    2,
                    format_args!("{} (certificate {})", link.subject, link.certificate),
                );
            }
        }
        for import in &pe.imports {
            let delayed = if import.delayed { " (delayed)" } else { "" };
            let head = format!("imports from {}{delayed}", import.library);
            self.list(head, &import.symbols, Name::to_string);
        }
        self.list(
            format_args!("exports as {}", pe.exports_as),
            &pe.exports,
            exported,
        );
    }

    fn elf(&mut self, elf: &Elf) {
        self.line(1, elf.kind);
        self.value("loader", elf.interpreter.as_ref());
        self.value("soname", elf.soname.as_ref());
        self.value("stack", Some(elf.stack));
        for (head, list) in [
            ("needs", &elf.needed),
            ("RPATH", &elf.rpath),
            ("RUNPATH", &elf.runpath),
            ("needs versions", &elf.needs),
            ("defines versions", &elf.defines),
        ] {
            self.list(head, list, Name::to_string);
        }
        self.list("exports", &elf.exports, exported);
    }

    fn archive(&mut self, archive: &Archive) {
        let symbols = match archive.native_symbols {
            true => "has symbols that a native program can link",
            false => "has no symbol that a native program can link",
        };
        self.line(1, symbols);
        self.list("members", &archive.members, |member| {
            let class = member.class.as_deref();
            let class = class.map_or(String::new(), |class| format!(" for {class}"));
            let bytes = number(member.bytes, "byte");
            format!("{}: {}{class}, {bytes}", member.name, member.format)
        });
    }

    fn wheel(&mut self, wheel: &Wheel) {
        let said = |text: &str| (!text.is_empty()).then(|| Name::from(text));
        let list = |list: &[String]| list.join(" ");
        self.line(
            1,
            format_args!("wheel of {} {}", wheel.distribution, wheel.version),
        );
        self.value("tags by its name", said(&list(&wheel.tags)));
        self.value("tags inside", said(&list(&wheel.tags_inside)));
        self.value("Root-Is-Purelib", said(&wheel.purelib));
        self.value("Requires-Python", said(&wheel.requires_python));
        self.list("requires", &wheel.requires, |text| {
            Name::from(text.as_str()).to_string()
        });
    }
}

fn exported(export: &Export) -> String {
    format!("{} ({})", export.name, export.is)
}
