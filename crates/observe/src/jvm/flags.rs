//! The flags that a JVM says it has (`jcmd VM.flags -all`), and where each has its value from.

/// A flag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flag<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// `default`, `ergonomic`, `command line`, …
    pub(crate) origin: &'a str,
}

/// The flags in the text, a line each: `   size_t MaxHeapSize   = 1073741824   {product} {command line}`.
pub(crate) fn parse(text: &str) -> impl Iterator<Item = Flag<'_>> {
    text.lines().filter_map(|line| {
        let (declared, rest) = line.split_once('=')?;
        // A flag that was set is shown with `:=` by versions before 9.
        let name = declared.trim_end().trim_end_matches(':').split_ascii_whitespace().nth(1)?;
        let (value, kinds) = rest.split_once('{')?;
        let origin =
            kinds.rsplit_once('{').map_or("default", |(_, last)| last.trim_end().trim_end_matches('}'));
        Some(Flag { name, value: value.trim(), origin })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_flag_has_a_name_a_value_and_an_origin() {
        let text = "[Global flags]\n\
            \x20     int ActiveProcessorCount    = -1           {product} {default}\n\
            \x20  size_t MaxHeapSize             = 1073741824   {product} {command line}\n\
            \x20    bool UseSerialGC             = true         {product} {ergonomic}\n\
            \x20   ccstr DumpLoadedClassList     =              {product} {default}\n\
            \x20    bool UseCodeCacheFlushing    = false   {C1 product lp64_product} {ergonomic}\n";
        let found: Vec<Flag<'_>> = parse(text).collect();
        let flag = |name, value, origin| Flag { name, value, origin };
        assert_eq!(
            found,
            [
                flag("ActiveProcessorCount", "-1", "default"),
                flag("MaxHeapSize", "1073741824", "command line"),
                flag("UseSerialGC", "true", "ergonomic"),
                flag("DumpLoadedClassList", "", "default"),
                flag("UseCodeCacheFlushing", "false", "ergonomic"),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*") {
            let _ = parse(&text).count();
        }
    }
}
