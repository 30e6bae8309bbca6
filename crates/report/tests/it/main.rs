//! A result as text, as a table, and as a document.

mod doctor;
mod document;
mod history;
mod hostile;
mod html;
mod load;
mod rendering;
mod support;
