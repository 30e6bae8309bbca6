//! A result as text, as a table, and as a document.

mod document;
mod load;
mod rendering;
mod support;
