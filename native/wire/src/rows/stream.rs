//! Batches as an IPC stream of Arrow.

use arrow_buffer::Buffer;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::ArrowError;

use super::batch::Batch;
use super::columns::Shape;

/// Encodes batch after batch; what it gives belongs one behind the other, first of all the schema.
pub struct ArrowStream {
    encoder: StreamEncoder,
}

impl ArrowStream {
    /// For batches of one shape.
    pub fn new(shape: &Shape) -> Result<ArrowStream, ArrowError> {
        Ok(ArrowStream {
            encoder: StreamEncoder::try_new(shape.schema())?,
        })
    }

    /// The next rows.
    pub fn encode(&mut self, batch: &Batch) -> Result<Vec<Buffer>, ArrowError> {
        self.encoder.encode(batch.arrow())
    }

    /// There are no more.
    pub fn end(self) -> Result<Vec<Buffer>, ArrowError> {
        self.encoder.finish()
    }
}
