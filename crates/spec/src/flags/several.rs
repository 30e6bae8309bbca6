//! Options with several values, `--limit-cpu 0.3,1`: each is measured, and compared with the first.

/// Of platforms, with what stands behind the value in a platform's name.
pub(super) const OF_PLATFORMS: [(&str, &str); 2] = [("--limit-cpu", " CPU"), ("--limit-memory", "")];
/// Of loads.
pub(super) const OF_LOADS: [&str; 1] = ["--connections"];

type Options = Vec<(String, String)>;

/// The options once for each combination of the values of `dimensions`; those of one value as they are.
pub(super) fn combinations(options: &Options, dimensions: &[&str]) -> Vec<Options> {
    let mut combined = vec![Options::new()];
    for (name, value) in options {
        let values: Vec<&str> = match dimensions.contains(&name.as_str()) {
            true => value.split(',').map(str::trim).collect(),
            false => vec![value],
        };
        let with = |options: Options| {
            let extended =
                |value: &&str| [options.clone(), vec![(name.clone(), (*value).to_owned())]].concat();
            values.iter().map(extended).collect::<Vec<Options>>()
        };
        combined = combined.into_iter().flat_map(with).collect();
    }
    combined
}

/// What sets a platform apart from the same with other values: `0.3 CPU, 512Mi`; `None` where no option has several.
pub(super) fn apart(options: &Options, chosen: &Options) -> Option<String> {
    let shown = OF_PLATFORMS.iter().filter_map(|(flag, unit)| {
        let value = |of: &Options| of.iter().find(|(name, _)| name == flag).map(|(_, value)| value.clone());
        value(options).filter(|all| all.contains(','))?;
        Some(format!("{}{unit}", value(chosen)?))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(given: &[(&str, &str)]) -> Options {
        given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_value_is_combined_with_every_other() {
        let given = options(&[("--limit-cpu", "0.3, 1"), ("--slice", "1s"), ("--limit-memory", "64Mi,1Gi")]);
        let dimensions: [&str; 2] = OF_PLATFORMS.map(|(flag, _)| flag);
        let combined = combinations(&given, &dimensions);
        assert_eq!(combined.len(), 4);
        assert_eq!(
            combined[1],
            options(&[("--limit-cpu", "0.3"), ("--slice", "1s"), ("--limit-memory", "1Gi")])
        );
        assert_eq!(apart(&given, &combined[1]).as_deref(), Some("0.3 CPU, 1Gi"));
    }

    #[test]
    fn one_value_is_no_dimension() {
        let given = options(&[("--limit-cpu", "0.3"), ("--until", "p50:1%,p99:5%")]);
        assert_eq!(combinations(&given, &["--limit-cpu"]), vec![given.clone()]);
        assert_eq!(apart(&given, &given), None);
    }
}
