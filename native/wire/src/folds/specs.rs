//! Which folds there are: what rows have in common that no question can tell apart, and what is kept of them.
//!
//! Those of questions know clients by their hosts, those of insights by addresses.

use super::fold::Role::{Beside, First, Greatest, Key, Sum};
use super::fold::Spec;
use crate::rows::Kind::{Bool, Float64, Int16, Int32, Int64, String, Strings, Time};

macro_rules! specs {
    ($($(#[$apart:ident])? $number:ident $name:literal [$($column:literal $kind:ident $role:ident,)*])*) => {
        specs!(@numbers 0usize; $($number)*);

        pub(super) static SPECS: &[Spec] = &[$(
            Spec {
                name: $name,
                columns: &[$(($column, $kind, $role)),*],
                apart: specs!(@apart $($apart)?),
            },
        )*];
    };
    (@numbers $next:expr; $number:ident $($rest:ident)*) => {
        pub(super) const $number: usize = $next;
        specs!(@numbers $next + 1; $($rest)*);
    };
    (@numbers $next:expr;) => {};
    (@apart apart) => { true };
    (@apart) => { false };
}

specs! {
    COVERAGE "coverage" [
        "api_name" String Key, "api_version" Int16 Key, "decoded" String Key, "outcome" String Key,
        "request_bytes" Int64 Sum, "response_bytes" Int64 Sum,
    ]
    RATES "rates" [
        "api_name" String Key, "client" String Key, "client_id" String Key, "client_name" String Key,
        "broker" String Key, "broker_name" String Key, "listener" String Key,
        "request_bytes" Int64 Sum, "response_bytes" Int64 Sum, "records" Int64 Sum, "record_bytes" Int64 Sum,
        "response_time" Time Greatest, "time" Time First,
    ]
    TIMELINE "timeline" [
        "time" Time Key, "error_code" Int16 Key, "outcome" String Key, "_latency" Float64 Beside,
        "request_bytes" Int64 Sum, "response_bytes" Int64 Sum, "latency_ms" Float64 Greatest,
    ]
    LATENCY "latency" [
        "api_name" String Key, "api_key" Int16 Key,
        "broker" String Key, "broker_name" String Key, "listener" String Key,
        "outcome" String Key, "empty" Bool Key, "wait_ms" Int32 Key,
        "_latency" Float64 Beside, "_service" Float64 Beside,
        "request_bytes" Int64 Sum, "latency_ms" Float64 Greatest,
    ]
    THROTTLING "throttling" [
        "api_name" String Key, "client" String Key, "client_id" String Key, "client_name" String Key,
        "broker" String Key, "broker_name" String Key, "listener" String Key, "throttle_ms" Int32 Key,
    ]
    API_VERSIONS "api_versions" [
        "api_name" String Key, "api_key" Int16 Key, "api_version" Int16 Key,
        "client" String Key, "client_id" String Key, "client_name" String Key,
    ]
    CONSUME "consume" [
        "api_key" Int16 Key, "replica_id" Int32 Key,
        "client" String Key, "client_id" String Key, "client_name" String Key, "topics" Strings Key, "empty" Bool Key,
        "response_bytes" Int64 Sum, "records" Int64 Sum, "record_bytes" Int64 Sum,
    ]
    #[apart]
    TRANSACTIONS "transactions" [
        "transactional_id" String Key, "api_key" Int16 Key, "time" Time Key, "request_packet" Int64 Key,
        "correlation_id" Int32 Key, "error_code" Int16 Key, "outcome" String Key, "client_id" String Key,
        "response_time" Time Key, "committed" Bool Key,
    ]
    CALLS "calls" [
        "client" String Key, "client_id" String Key, "broker" String Key, "file" String Key,
        "api_key" Int16 Key, "api_version" Int16 Key, "replica_id" Int32 Key,
        "outcome" String Key, "throttle_ms" Int32 Key, "_window" Int64 Beside,
        "time" Time First, "request_packet" Int64 First,
    ]
    ANSWERS "answers" [
        "connection" Int64 Key, "client" String Key, "client_id" String Key, "broker" String Key, "file" String Key,
        "api_key" Int16 Key, "replica_id" Int32 Key, "error_code" Int16 Key, "group" String Key, "topics" Strings Key,
        "time" Time First, "response_packet" Int64 First,
    ]
    CUT_OFF "cut_off" [
        "client" String Key, "client_id" String Key, "broker" String Key, "file" String Key,
        "api_key" Int16 Key, "replica_id" Int32 Key, "topics" Strings Key, "outcome" String Key,
        "request_bytes" Int64 Key,
        "time" Time First, "request_packet" Int64 First,
    ]
    ACKS "acks" [
        "client" String Key, "client_id" String Key, "broker" String Key, "file" String Key,
        "api_key" Int16 Key, "acks" Int16 Key, "topics" Strings Key,
        "time" Time First, "request_packet" Int64 First,
    ]
    SILENCES "silences" [
        "connection" Int64 Key, "outcome" String Key,
        "time" Time Greatest, "response_time" Time Greatest,
    ]
    #[apart]
    TELLERS "tellers" [
        "connection" Int64 Key, "correlation_id" Int32 Key, "response_time" Time Key, "response_packet" Int64 Key,
        "file" String Key, "api_key" Int16 Key, "topics" Strings Key,
    ]
    #[apart]
    REFUSED "refused" [
        "connection" Int64 Key, "correlation_id" Int32 Key, "time" Time Key, "response_time" Time Key,
        "api_name" String Key, "error_code" Int16 Key,
        "client" String Key, "client_id" String Key, "client_name" String Key,
        "broker" String Key, "broker_name" String Key, "listener" String Key,
    ]
    PLACES "places" [
        "connection" Int64 Key, "api_key" Int16 Key, "client_id" String Key, "group" String Key,
        "topic" String Key, "topic_id" String Key, "partition" Int32 Key,
        "error_code" Int16 Key, "replica_id" Int32 Key, "_with_records" Bool Beside,
        "records" Int64 Sum, "record_bytes" Int64 Sum, "first_of_topic" Int64 Sum, "first_of_partition" Int64 Sum,
        "time" Time First,
    ]
    OFFSETS "offsets" [
        "api_key" Int16 Key, "client_id" String Key, "group" String Key,
        "topic" String Key, "topic_id" String Key, "partition" Int32 Key,
        "error_code" Int16 Key, "time" Time Key, "request_offset" Int64 Key, "response_offset" Int64 Key,
        "log_end" Int64 Greatest,
    ]
    #[apart]
    REFUSED_PARTITIONS "refused_partitions" [
        "connection" Int64 Key, "correlation_id" Int32 Key, "time" Time Key,
        "topic" String Key, "topic_id" String Key, "error_code" Int16 Key,
    ]
    TOO_LARGE_FOLD "too_large" [
        "connection" Int64 Key, "client_id" String Key, "topic" String Key, "topic_id" String Key,
        "error_code" Int16 Key, "record_bytes" Int64 Greatest, "time" Time First,
    ]
    SENT "sent" [
        "api_key" Int16 Key, "client_id" String Key, "topic" String Key, "topic_id" String Key,
        "acks" Int16 Key, "codec" String Key, "producer_id" Int64 Key, "transactional" Bool Key,
        "_bytes" Float64 Beside, "_records" Float64 Beside,
        "all_bytes" Int64 Sum, "all_records" Int64 Sum, "bytes" Int64 Greatest, "records" Int64 Greatest,
    ]
    PRODUCED "produced" [
        "connection" Int64 Key, "api_key" Int16 Key, "client_id" String Key,
        "topic" String Key, "topic_id" String Key, "codec" String Key, "control" Bool Key,
        "records" Int64 Sum, "bytes" Int64 Sum, "time" Time First,
    ]
}
