//! The server before a command line that is made up: what it asks of that, and when.

mod gone;
mod made_up;
mod measuring;
