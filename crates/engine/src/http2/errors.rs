//! Why a connection or one of its streams fails.

/// Why a connection can't go on: what the peer sent is not HTTP/2 (RFC 9113, section 5.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The first frame is no SETTINGS frame, as the first frame of a server must be (section 3.4).
    #[error("the service does not answer in HTTP/2")]
    NotHttp2,
    /// A frame is longer than agreed, or has another length than its kind must have.
    #[error("a frame has a wrong length")]
    FrameSize,
    /// More padding than there is room for.
    #[error("a frame's padding exceeds its length")]
    Padding,
    /// A stream can't have such a frame, because it was never opened or its response was complete.
    #[error("a frame arrived on a stream that cannot receive it")]
    Stream,
    /// Another frame within a header block, or a continuation of none (section 6.10).
    #[error("a header block is interrupted, or continued without a beginning")]
    Continuation,
    /// The header block can't be decoded (section 4.3).
    #[error("a header block cannot be decompressed")]
    Compression,
    /// The header block is longer than [`LONGEST_HEAD`](super::LONGEST_HEAD).
    #[error("the head of the response is too long")]
    HeadTooLong,
    /// A setting has a value that it may not have (section 6.5.2).
    #[error("a setting of the service is out of range")]
    Setting,
    /// A flow-control window has grown beyond 2^31-1 bytes, or by nothing (section 6.9).
    #[error("the service violates flow control")]
    FlowControl,
    /// A pushed response, which our settings forbid.
    #[error("the service pushed a response although push is disabled")]
    Push,
    /// Thousands of frames in a row that bring no response any further.
    #[error("the service floods the connection with empty frames")]
    Flood,
}

impl ProtocolError {
    /// The error code for our GOAWAY frame (section 7).
    pub(super) fn code(self) -> u32 {
        match self {
            ProtocolError::NotHttp2
            | ProtocolError::Padding
            | ProtocolError::Continuation
            | ProtocolError::Setting
            | ProtocolError::Push => code::PROTOCOL_ERROR,
            ProtocolError::FrameSize => code::FRAME_SIZE_ERROR,
            ProtocolError::Stream => code::STREAM_CLOSED,
            ProtocolError::Compression => code::COMPRESSION_ERROR,
            ProtocolError::FlowControl => code::FLOW_CONTROL_ERROR,
            ProtocolError::HeadTooLong | ProtocolError::Flood => code::ENHANCE_YOUR_CALM,
        }
    }
}

/// Why a request failed alone, while the connection goes on (section 5.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The service ended the stream with this error code (section 7).
    #[error("the service reset the stream with error code {0}")]
    Reset(u32),
    /// The service has not processed the request, so that it may be sent again elsewhere (section 8.7).
    #[error("the service refused the stream without processing it")]
    Refused,
    /// The response has no valid head, or a body where it can't have one (section 8.1.1).
    #[error("the response is malformed")]
    Malformed,
    /// `Content-Length` is no number, there are two that differ, or the body is of another length.
    #[error("the length of the response is malformed or contradicts itself")]
    Length,
    /// The stream's flow-control window has grown beyond 2^31-1 bytes, or by nothing (section 6.9).
    #[error("the service violates flow control")]
    FlowControl,
}

/// Error codes (section 7).
pub(super) mod code {
    pub const NO_ERROR: u32 = 0x0;
    pub const PROTOCOL_ERROR: u32 = 0x1;
    pub const FLOW_CONTROL_ERROR: u32 = 0x3;
    pub const STREAM_CLOSED: u32 = 0x5;
    pub const FRAME_SIZE_ERROR: u32 = 0x6;
    pub const REFUSED_STREAM: u32 = 0x7;
    pub const CANCEL: u32 = 0x8;
    pub const COMPRESSION_ERROR: u32 = 0x9;
    pub const ENHANCE_YOUR_CALM: u32 = 0xb;
}
