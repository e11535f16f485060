//! Batches as an IPC stream of Arrow.

use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

use super::batch::Batch;
use super::columns::Shape;

/// Encodes batch after batch; what it gives belongs one behind the other.
pub struct ArrowStream {
    writer: StreamWriter<Vec<u8>>,
}

impl ArrowStream {
    /// For batches of one shape.
    pub fn new(shape: &Shape) -> Result<ArrowStream, ArrowError> {
        Ok(ArrowStream {
            writer: StreamWriter::try_new(Vec::new(), shape.schema())?,
        })
    }

    /// Gives what was encoded since the last time, first of all the schema; its room is used again.
    pub fn take<T>(&mut self, give: impl FnOnce(&[u8]) -> T) -> T {
        let given = give(self.writer.get_ref());
        self.writer.get_mut().clear();
        given
    }

    /// The next rows.
    pub fn push(&mut self, batch: &Batch) -> Result<(), ArrowError> {
        self.writer.write(batch.arrow())
    }

    /// There are no more.
    pub fn end(&mut self) -> Result<(), ArrowError> {
        self.writer.finish()
    }
}
