//! The layers that the kernel's functions belong to, by a table of names: `layers/table.tsv`.
//! A row is a function (or, ending in `*`, a prefix), its layer, and the kernel's file or the main one of those that it comes from. The
//! longest matching row applies. Rows of the layer `helper` are functions that many layers call, such as locks and
//! the slab allocator: their time is their caller's.

use std::{collections::HashMap, sync::LazyLock};

use loadline_model::profile::Layer;

const TABLE: &str = include_str!("layers/table.tsv");

/// The layer of the functions whose time is their caller's.
const HELPER: &str = "helper";

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// A function's name, or a prefix and a `*`.
    pub name: &'static str,
    /// Its layer; `None` for a helper, whose time is its caller's.
    pub layer: Option<Layer>,
    /// The file it comes from, below the root of Linux's source.
    pub file: &'static str,
}

/// The table of all recognised functions.
pub fn functions() -> impl Iterator<Item = Function> {
    TABLE.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let (name, layer, file) = (fields.next()?, fields.next()?, fields.next()?);
        let layer = match layer {
            HELPER => None,
            name => Some(*Layer::ALL.iter().find(|layer| layer.name() == name)?),
        };
        Some(Function { name, layer, file })
    })
}

struct Index {
    exact: HashMap<&'static str, Option<Layer>>,
    prefixes: HashMap<&'static str, Option<Layer>>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { exact: HashMap::new(), prefixes: HashMap::new() };
    for row in functions() {
        match row.name.strip_suffix('*') {
            Some(prefix) => index.prefixes.insert(prefix, row.layer),
            None => index.exact.insert(row.name, row.layer),
        };
    }
    index
});

/// The row for a function: `None` if it is not listed, `Some(None)` for a helper.
fn listed(name: &str) -> Option<Option<Layer>> {
    if let Some(&layer) = INDEX.exact.get(name) {
        return Some(layer);
    }
    (1..=name.len())
        .rev()
        .filter_map(|length| name.get(..length))
        .find_map(|prefix| INDEX.prefixes.get(prefix).copied())
}

/// What a stack was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// The layer of its innermost recognised function.
    Layer(Layer),
    /// Nothing, with the innermost function that is not listed, if any.
    Nothing(Option<&'a str>),
}

/// Layers that enclose everything else: a sample belongs to them only if no inner function of its stack is unlisted. Otherwise any
/// function of any system call would count as recognised.
fn surrounds(layer: Layer) -> bool {
    matches!(layer, Layer::SyscallEntry | Layer::Interrupt | Layer::SoftirqDispatch)
}

/// Finds the innermost recognised function of a kernel stack, which is given innermost first.
pub(crate) fn innermost<'a>(stack: &[&'a str]) -> Found<'a> {
    let mut unlisted = None;
    for &name in stack {
        match listed(name) {
            Some(Some(layer)) if surrounds(layer) && unlisted.is_some() => break,
            Some(Some(layer)) => return Found::Layer(layer),
            Some(None) => {}
            None => unlisted = unlisted.or(Some(name)),
        }
    }
    Found::Nothing(unlisted)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_row_and_no_function_is_listed_twice() {
        let mut seen = HashSet::new();
        for row in functions() {
            assert!(seen.insert(row.name), "{} is listed twice", row.name);
        }
        assert_eq!(seen.len(), TABLE.lines().count(), "a line is no row");
    }

    #[test]
    fn every_row_names_a_file_of_the_kernel() {
        let roots =
            ["arch", "block", "drivers", "fs", "io_uring", "kernel", "lib", "mm", "net", "security", "virt"];
        for row in functions() {
            let root = row.file.split('/').next();
            assert!(root.is_some_and(|root| roots.contains(&root)), "{row:?}");
            assert!([".c", ".h", ".S"].iter().any(|end| row.file.ends_with(end)), "{row:?}");
        }
    }

    #[test]
    fn names_are_functions_or_beginnings_long_enough_to_mean_something() {
        for row in functions() {
            let name = row.name.strip_suffix('*').unwrap_or(row.name);
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{row:?}");
            assert!(name.len() > 1, "{row:?}");
        }
    }

    #[test]
    fn every_layer_has_a_function_and_is_serialised_by_its_name() {
        for layer in Layer::ALL {
            assert!(functions().any(|row| row.layer == Some(layer)), "{layer}");
            assert_eq!(serde_json::to_value(layer).unwrap(), layer.name());
        }
    }

    #[test]
    fn the_whole_name_holds_before_its_beginning_and_the_longer_beginning_before_the_shorter() {
        assert_eq!(listed("ip_rcv"), Some(Some(Layer::Ip)));
        assert_eq!(listed("ip_tunnel_xmit"), Some(Some(Layer::Tunnel)));
        assert_eq!(listed("br_nf_pre_routing"), Some(Some(Layer::BrNetfilter)));
        assert_eq!(listed("br_forward"), Some(Some(Layer::Bridge)));
        assert_eq!(listed("bpf_prog_0123456789abcdef_spin"), Some(Some(Layer::Bpf)));
        assert_eq!(listed("_raw_spin_lock"), Some(None));
        assert_eq!(listed("frobnicate"), None);
    }

    #[test]
    fn the_time_of_a_helper_is_its_caller_s() {
        assert_eq!(
            innermost(&["_raw_spin_lock", "nf_conntrack_in", "ip_rcv"]),
            Found::Layer(Layer::Conntrack)
        );
        assert_eq!(innermost(&["__memcpy", "tcp_sendmsg"]), Found::Layer(Layer::Copy));
    }

    #[test]
    fn a_function_that_is_not_listed_counts_for_its_caller_but_not_for_what_surrounds_everything() {
        assert_eq!(innermost(&["frobnicate", "tcp_sendmsg", "do_syscall_64"]), Found::Layer(Layer::Tcp));
        assert_eq!(innermost(&["frobnicate", "do_syscall_64"]), Found::Nothing(Some("frobnicate")));
        assert_eq!(innermost(&["_raw_spin_lock", "do_syscall_64"]), Found::Layer(Layer::SyscallEntry));
        assert_eq!(innermost(&["_raw_spin_lock"]), Found::Nothing(None));
    }
}
