//! The flags of an experiment's keys: which there are, and what their help says, is declared with the keys in the spec.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

/// Those that have a letter as well, the one that `loadline load` has for them.
const LETTERS: [(&str, char); 3] = [("--connections", 'c'), ("--insecure", 'k'), ("--timeout", 'T')];

/// Those that take several values, which are compared.
const SEVERAL: [(&str, &str); 3] =
    [("--connections", "1,32"), ("--limit-cpu", "0.3,1"), ("--limit-memory", "256Mi,1Gi")];

/// A command whose flags set keys of an experiment.
pub trait OfCommand {
    /// Whether the command has this flag.
    fn has(flag: &str) -> bool;

    /// Its own default of the flag, if it has one.
    fn default(flag: &str) -> Option<String>;
}

/// The flags that were given, with their values; that of a switch is empty.
pub struct OptionFlags<C> {
    pub given: Vec<(String, String)>,
    command: PhantomData<C>,
}

impl<C: OfCommand> Args for OptionFlags<C> {
    fn augment_args(command: Command) -> Command {
        flags::<C>().fold(command, |command, flag| {
            let help = match C::default(flag.name) {
                Some(default) => {
                    let sentence = flag.help.split(" [default: ").next().unwrap_or_default();
                    format!("{sentence} [default: {default}]")
                }
                None => flag.help,
            };
            let several = SEVERAL.iter().find(|(name, _)| *name == flag.name);
            let help = match (several, help.split_once(" [default: ")) {
                (None, _) => help,
                (Some((_, values)), None) => format!("{help}; several are compared: {values}"),
                (Some((_, values)), Some((sentence, default))) => {
                    format!("{sentence}; several are compared: {values} [default: {default}")
                }
            };
            let long = flag.name.trim_start_matches('-');
            let letter = LETTERS.iter().find(|(name, _)| *name == flag.name).map(|(_, letter)| *letter);
            let arg = Arg::new(flag.name).long(long).short(letter).help(help).help_heading(flag.heading);
            command.arg(match flag.placeholder {
                Some(placeholder) => arg.value_name(placeholder),
                None => arg.action(ArgAction::SetTrue),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: OfCommand> FromArgMatches for OptionFlags<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |flag: &loadline_spec::Flag| match flag.placeholder {
            Some(_) => matches.get_one::<String>(flag.name).cloned(),
            None => matches.get_flag(flag.name).then(String::new),
        };
        let given = flags::<C>().filter_map(|flag| Some((flag.name.to_owned(), value(&flag)?)));
        Ok(OptionFlags { given: given.collect(), command: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flags<C: OfCommand>() -> impl Iterator<Item = loadline_spec::Flag> {
    loadline_spec::flags().into_iter().filter(|flag| C::has(flag.name))
}
