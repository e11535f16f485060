//! The layouts of Kafka's messages: generated from netdiag/kafka/protocol/messages.json, do not edit.
//!
//! tools/generate_native_table.py writes this file, and a test holds it against the table that it is made from.

use super::table::Count::{Many, One};
use super::table::Kind::*;
use super::table::{ALL, Api, Entry, Message, NEVER};

/// By api key.
pub(super) static APIS: [Api; 95] = [
    Api {
        name: "Produce",
        first: 0,
        versions: (0, 13),
        request: Message {
            flexible: (9, i16::MAX),
            fields: &[
                Entry("transactional_id", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                Entry("acks", One(Int16), ALL, NEVER, None, &[]),
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topic_data", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), (0, 12), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (13, i16::MAX), NEVER, None, &[]),
                    Entry("partition_data", Many(Struct), ALL, NEVER, None, &[
                        Entry("index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("records", One(Records), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: (9, i16::MAX),
            fields: &[
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), (0, 12), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (13, i16::MAX), NEVER, None, &[]),
                    Entry("partition_responses", Many(Struct), ALL, NEVER, None, &[
                        Entry("index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("base_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("log_append_time_ms", One(Int64), (2, i16::MAX), NEVER, None, &[]),
                        Entry("log_start_offset", One(Int64), (5, i16::MAX), NEVER, None, &[]),
                        Entry("record_errors", Many(Struct), (8, i16::MAX), NEVER, None, &[
                            Entry("batch_index", One(Int32), (8, i16::MAX), NEVER, None, &[]),
                            Entry("batch_index_error_message", One(String), (8, i16::MAX), (8, i16::MAX), None, &[]),
                        ]),
                        Entry("error_message", One(String), (8, i16::MAX), (8, i16::MAX), None, &[]),
                        Entry("current_leader", One(Struct), (10, i16::MAX), NEVER, Some(0), &[
                            Entry("leader_id", One(Int32), (10, i16::MAX), NEVER, None, &[]),
                            Entry("leader_epoch", One(Int32), (10, i16::MAX), NEVER, None, &[]),
                        ]),
                    ]),
                ]),
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("node_endpoints", Many(Struct), (10, i16::MAX), NEVER, Some(0), &[
                    Entry("node_id", One(Int32), (10, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (10, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Int32), (10, i16::MAX), NEVER, None, &[]),
                    Entry("rack", One(String), (10, i16::MAX), (10, i16::MAX), None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "Fetch",
        first: 14,
        versions: (0, 18),
        request: Message {
            flexible: (12, i16::MAX),
            fields: &[
                Entry("cluster_id", One(String), (12, i16::MAX), (12, i16::MAX), Some(0), &[]),
                Entry("replica_id", One(Int32), (0, 14), NEVER, None, &[]),
                Entry("replica_state", One(Struct), (15, i16::MAX), NEVER, Some(1), &[
                    Entry("replica_id", One(Int32), (15, i16::MAX), NEVER, None, &[]),
                    Entry("replica_epoch", One(Int64), (15, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("max_wait_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("min_bytes", One(Int32), ALL, NEVER, None, &[]),
                Entry("max_bytes", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                Entry("isolation_level", One(Int8), (4, i16::MAX), NEVER, None, &[]),
                Entry("session_id", One(Int32), (7, i16::MAX), NEVER, None, &[]),
                Entry("session_epoch", One(Int32), (7, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic", One(String), (0, 12), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (13, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("current_leader_epoch", One(Int32), (9, i16::MAX), NEVER, None, &[]),
                        Entry("fetch_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("last_fetched_epoch", One(Int32), (12, i16::MAX), NEVER, None, &[]),
                        Entry("log_start_offset", One(Int64), (5, i16::MAX), NEVER, None, &[]),
                        Entry("partition_max_bytes", One(Int32), ALL, NEVER, None, &[]),
                        Entry("replica_directory_id", One(Uuid), (17, i16::MAX), NEVER, Some(0), &[]),
                        Entry("high_watermark", One(Int64), (18, i16::MAX), NEVER, Some(1), &[]),
                    ]),
                ]),
                Entry("forgotten_topics_data", Many(Struct), (7, i16::MAX), NEVER, None, &[
                    Entry("topic", One(String), (7, 12), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (13, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Int32), (7, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("rack_id", One(String), (11, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (12, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), (7, i16::MAX), NEVER, None, &[]),
                Entry("session_id", One(Int32), (7, i16::MAX), NEVER, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic", One(String), (0, 12), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (13, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("high_watermark", One(Int64), ALL, NEVER, None, &[]),
                        Entry("last_stable_offset", One(Int64), (4, i16::MAX), NEVER, None, &[]),
                        Entry("log_start_offset", One(Int64), (5, i16::MAX), NEVER, None, &[]),
                        Entry("diverging_epoch", One(Struct), (12, i16::MAX), NEVER, Some(0), &[
                            Entry("epoch", One(Int32), (12, i16::MAX), NEVER, None, &[]),
                            Entry("end_offset", One(Int64), (12, i16::MAX), NEVER, None, &[]),
                        ]),
                        Entry("current_leader", One(Struct), (12, i16::MAX), NEVER, Some(1), &[
                            Entry("leader_id", One(Int32), (12, i16::MAX), NEVER, None, &[]),
                            Entry("leader_epoch", One(Int32), (12, i16::MAX), NEVER, None, &[]),
                        ]),
                        Entry("snapshot_id", One(Struct), (12, i16::MAX), NEVER, Some(2), &[
                            Entry("end_offset", One(Int64), (12, i16::MAX), NEVER, None, &[]),
                            Entry("epoch", One(Int32), (12, i16::MAX), NEVER, None, &[]),
                        ]),
                        Entry("aborted_transactions", Many(Struct), (4, i16::MAX), (4, i16::MAX), None, &[
                            Entry("producer_id", One(Int64), (4, i16::MAX), NEVER, None, &[]),
                            Entry("first_offset", One(Int64), (4, i16::MAX), NEVER, None, &[]),
                        ]),
                        Entry("preferred_read_replica", One(Int32), (11, i16::MAX), NEVER, None, &[]),
                        Entry("records", One(Records), ALL, ALL, None, &[]),
                    ]),
                ]),
                Entry("node_endpoints", Many(Struct), (16, i16::MAX), NEVER, Some(0), &[
                    Entry("node_id", One(Int32), (16, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (16, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Int32), (16, i16::MAX), NEVER, None, &[]),
                    Entry("rack", One(String), (16, i16::MAX), (16, i16::MAX), None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "ListOffsets",
        first: 33,
        versions: (0, 11),
        request: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("replica_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("isolation_level", One(Int8), (2, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("current_leader_epoch", One(Int32), (4, i16::MAX), NEVER, None, &[]),
                        Entry("timestamp", One(Int64), ALL, NEVER, None, &[]),
                        Entry("max_num_offsets", One(Int32), (0, 0), NEVER, None, &[]),
                    ]),
                ]),
                Entry("timeout_ms", One(Int32), (10, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("old_style_offsets", Many(Int64), (0, 0), NEVER, None, &[]),
                        Entry("timestamp", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                        Entry("offset", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), (4, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "Metadata",
        first: 45,
        versions: (0, 13),
        request: Message {
            flexible: (9, i16::MAX),
            fields: &[
                Entry("topics", Many(Struct), ALL, (1, i16::MAX), None, &[
                    Entry("topic_id", One(Uuid), (10, i16::MAX), NEVER, None, &[]),
                    Entry("name", One(String), ALL, (10, i16::MAX), None, &[]),
                ]),
                Entry("allow_auto_topic_creation", One(Bool), (4, i16::MAX), NEVER, None, &[]),
                Entry("include_cluster_authorized_operations", One(Bool), (8, 10), NEVER, None, &[]),
                Entry("include_topic_authorized_operations", One(Bool), (8, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (9, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                Entry("brokers", Many(Struct), ALL, NEVER, None, &[
                    Entry("node_id", One(Int32), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Int32), ALL, NEVER, None, &[]),
                    Entry("rack", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                ]),
                Entry("cluster_id", One(String), (2, i16::MAX), (2, i16::MAX), None, &[]),
                Entry("controller_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("name", One(String), ALL, (12, i16::MAX), None, &[]),
                    Entry("topic_id", One(Uuid), (10, i16::MAX), NEVER, None, &[]),
                    Entry("is_internal", One(Bool), (1, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), (7, i16::MAX), NEVER, None, &[]),
                        Entry("replica_nodes", Many(Int32), ALL, NEVER, None, &[]),
                        Entry("isr_nodes", Many(Int32), ALL, NEVER, None, &[]),
                        Entry("offline_replicas", Many(Int32), (5, i16::MAX), NEVER, None, &[]),
                    ]),
                    Entry("topic_authorized_operations", One(Int32), (8, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("cluster_authorized_operations", One(Int32), (8, 10), NEVER, None, &[]),
                Entry("error_code", One(Int16), (13, i16::MAX), NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "LeaderAndIsr",
        first: 59,
        versions: (0, 7),
        request: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("controller_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("is_k_raft_controller", One(Bool), (7, i16::MAX), NEVER, None, &[]),
                Entry("controller_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("ungrouped_partition_states", Many(Struct), (0, 1), NEVER, None, &[
                    Entry("topic_name", One(String), (0, 1), NEVER, None, &[]),
                    Entry("partition_index", One(Int32), (0, 1), NEVER, None, &[]),
                    Entry("controller_epoch", One(Int32), (0, 1), NEVER, None, &[]),
                    Entry("leader", One(Int32), (0, 1), NEVER, None, &[]),
                    Entry("leader_epoch", One(Int32), (0, 1), NEVER, None, &[]),
                    Entry("isr", Many(Int32), (0, 1), NEVER, None, &[]),
                    Entry("partition_epoch", One(Int32), (0, 1), NEVER, None, &[]),
                    Entry("replicas", Many(Int32), (0, 1), NEVER, None, &[]),
                    Entry("is_new", One(Bool), (1, 1), NEVER, None, &[]),
                ]),
                Entry("broker_epoch", One(Int64), (2, i16::MAX), NEVER, None, &[]),
                Entry("type", One(Int8), (5, i16::MAX), NEVER, None, &[]),
                Entry("topic_states", Many(Struct), (2, i16::MAX), NEVER, None, &[
                    Entry("topic_name", One(String), (2, i16::MAX), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (5, i16::MAX), NEVER, None, &[]),
                    Entry("partition_states", Many(Struct), (2, i16::MAX), NEVER, None, &[
                        Entry("partition_index", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("controller_epoch", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("leader", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("isr", Many(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("partition_epoch", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("replicas", Many(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("adding_replicas", Many(Int32), (3, i16::MAX), NEVER, None, &[]),
                        Entry("removing_replicas", Many(Int32), (3, i16::MAX), NEVER, None, &[]),
                        Entry("is_new", One(Bool), (2, i16::MAX), NEVER, None, &[]),
                        Entry("leader_recovery_state", One(Int8), (6, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
                Entry("live_leaders", Many(Struct), ALL, NEVER, None, &[
                    Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                    Entry("host_name", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("partition_errors", Many(Struct), (0, 4), NEVER, None, &[
                    Entry("topic_name", One(String), (0, 4), NEVER, None, &[]),
                    Entry("partition_index", One(Int32), (0, 4), NEVER, None, &[]),
                    Entry("error_code", One(Int16), (0, 4), NEVER, None, &[]),
                ]),
                Entry("topics", Many(Struct), (5, i16::MAX), NEVER, None, &[
                    Entry("topic_id", One(Uuid), (5, i16::MAX), NEVER, None, &[]),
                    Entry("partition_errors", Many(Struct), (5, i16::MAX), NEVER, None, &[
                        Entry("partition_index", One(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("error_code", One(Int16), (5, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "StopReplica",
        first: 67,
        versions: (0, 4),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("controller_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("is_k_raft_controller", One(Bool), (4, i16::MAX), NEVER, None, &[]),
                Entry("controller_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("broker_epoch", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                Entry("delete_partitions", One(Bool), (0, 2), NEVER, None, &[]),
                Entry("ungrouped_partitions", Many(Struct), (0, 0), NEVER, None, &[
                    Entry("topic_name", One(String), (0, 0), NEVER, None, &[]),
                    Entry("partition_index", One(Int32), (0, 0), NEVER, None, &[]),
                ]),
                Entry("topics", Many(Struct), (1, 2), NEVER, None, &[
                    Entry("name", One(String), (1, 2), NEVER, None, &[]),
                    Entry("partition_indexes", Many(Int32), (1, 2), NEVER, None, &[]),
                ]),
                Entry("topic_states", Many(Struct), (3, i16::MAX), NEVER, None, &[
                    Entry("topic_name", One(String), (3, i16::MAX), NEVER, None, &[]),
                    Entry("partition_states", Many(Struct), (3, i16::MAX), NEVER, None, &[
                        Entry("partition_index", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                        Entry("delete_partition", One(Bool), (3, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("partition_errors", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "UpdateMetadata",
        first: 72,
        versions: (0, 8),
        request: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("controller_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("is_k_raft_controller", One(Bool), (8, i16::MAX), NEVER, None, &[]),
                Entry("type", One(Int8), (8, i16::MAX), NEVER, Some(0), &[]),
                Entry("controller_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("ungrouped_partition_states", Many(Struct), (0, 4), NEVER, None, &[
                    Entry("topic_name", One(String), (0, 4), NEVER, None, &[]),
                    Entry("partition_index", One(Int32), (0, 4), NEVER, None, &[]),
                    Entry("controller_epoch", One(Int32), (0, 4), NEVER, None, &[]),
                    Entry("leader", One(Int32), (0, 4), NEVER, None, &[]),
                    Entry("leader_epoch", One(Int32), (0, 4), NEVER, None, &[]),
                    Entry("isr", Many(Int32), (0, 4), NEVER, None, &[]),
                    Entry("zk_version", One(Int32), (0, 4), NEVER, None, &[]),
                    Entry("replicas", Many(Int32), (0, 4), NEVER, None, &[]),
                    Entry("offline_replicas", Many(Int32), (4, 4), NEVER, None, &[]),
                ]),
                Entry("broker_epoch", One(Int64), (5, i16::MAX), NEVER, None, &[]),
                Entry("topic_states", Many(Struct), (5, i16::MAX), NEVER, None, &[
                    Entry("topic_name", One(String), (5, i16::MAX), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (7, i16::MAX), NEVER, None, &[]),
                    Entry("partition_states", Many(Struct), (5, i16::MAX), NEVER, None, &[
                        Entry("partition_index", One(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("controller_epoch", One(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("leader", One(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("isr", Many(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("zk_version", One(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("replicas", Many(Int32), (5, i16::MAX), NEVER, None, &[]),
                        Entry("offline_replicas", Many(Int32), (5, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
                Entry("live_brokers", Many(Struct), ALL, NEVER, None, &[
                    Entry("id", One(Int32), ALL, NEVER, None, &[]),
                    Entry("v0_host", One(String), (0, 0), NEVER, None, &[]),
                    Entry("v0_port", One(Int32), (0, 0), NEVER, None, &[]),
                    Entry("endpoints", Many(Struct), (1, i16::MAX), NEVER, None, &[
                        Entry("port", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                        Entry("host", One(String), (1, i16::MAX), NEVER, None, &[]),
                        Entry("listener", One(String), (3, i16::MAX), NEVER, None, &[]),
                        Entry("security_protocol", One(Int16), (1, i16::MAX), NEVER, None, &[]),
                    ]),
                    Entry("rack", One(String), (2, i16::MAX), (2, i16::MAX), None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "ControlledShutdown",
        first: 81,
        versions: (0, 3),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("broker_epoch", One(Int64), (2, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("remaining_partitions", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "OffsetCommit",
        first: 85,
        versions: (0, 10),
        request: Message {
            flexible: (8, i16::MAX),
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("generation_id_or_member_epoch", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("member_id", One(String), (1, i16::MAX), NEVER, None, &[]),
                Entry("retention_time_ms", One(Int64), (2, 4), NEVER, None, &[]),
                Entry("group_instance_id", One(String), (7, i16::MAX), (7, i16::MAX), None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), (0, 9), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (10, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("committed_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("commit_timestamp", One(Int64), (1, 1), NEVER, None, &[]),
                        Entry("committed_leader_epoch", One(Int32), (6, i16::MAX), NEVER, None, &[]),
                        Entry("committed_metadata", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: (8, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), (0, 9), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (10, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "OffsetFetch",
        first: 96,
        versions: (0, 10),
        request: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("group_id", One(String), (0, 7), NEVER, None, &[]),
                Entry("topics", Many(Struct), (0, 7), (2, 7), None, &[
                    Entry("name", One(String), (0, 7), NEVER, None, &[]),
                    Entry("partition_indexes", Many(Int32), (0, 7), NEVER, None, &[]),
                ]),
                Entry("groups", Many(Struct), (8, i16::MAX), NEVER, None, &[
                    Entry("group_id", One(String), (8, i16::MAX), NEVER, None, &[]),
                    Entry("member_id", One(String), (9, i16::MAX), (9, i16::MAX), None, &[]),
                    Entry("member_epoch", One(Int32), (9, i16::MAX), NEVER, None, &[]),
                    Entry("topics", Many(Struct), (8, i16::MAX), (8, i16::MAX), None, &[
                        Entry("name", One(String), (8, 9), NEVER, None, &[]),
                        Entry("topic_id", One(Uuid), (10, i16::MAX), NEVER, None, &[]),
                        Entry("partition_indexes", Many(Int32), (8, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
                Entry("require_stable", One(Bool), (7, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), (0, 7), NEVER, None, &[
                    Entry("name", One(String), (0, 7), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), (0, 7), NEVER, None, &[
                        Entry("partition_index", One(Int32), (0, 7), NEVER, None, &[]),
                        Entry("committed_offset", One(Int64), (0, 7), NEVER, None, &[]),
                        Entry("committed_leader_epoch", One(Int32), (5, 7), NEVER, None, &[]),
                        Entry("metadata", One(String), (0, 7), (0, 7), None, &[]),
                        Entry("error_code", One(Int16), (0, 7), NEVER, None, &[]),
                    ]),
                ]),
                Entry("error_code", One(Int16), (2, 7), NEVER, None, &[]),
                Entry("groups", Many(Struct), (8, i16::MAX), NEVER, None, &[
                    Entry("group_id", One(String), (8, i16::MAX), NEVER, None, &[]),
                    Entry("topics", Many(Struct), (8, i16::MAX), NEVER, None, &[
                        Entry("name", One(String), (8, 9), NEVER, None, &[]),
                        Entry("topic_id", One(Uuid), (10, i16::MAX), NEVER, None, &[]),
                        Entry("partitions", Many(Struct), (8, i16::MAX), NEVER, None, &[
                            Entry("partition_index", One(Int32), (8, i16::MAX), NEVER, None, &[]),
                            Entry("committed_offset", One(Int64), (8, i16::MAX), NEVER, None, &[]),
                            Entry("committed_leader_epoch", One(Int32), (8, i16::MAX), NEVER, None, &[]),
                            Entry("metadata", One(String), (8, i16::MAX), (8, i16::MAX), None, &[]),
                            Entry("error_code", One(Int16), (8, i16::MAX), NEVER, None, &[]),
                        ]),
                    ]),
                    Entry("error_code", One(Int16), (8, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "FindCoordinator",
        first: 107,
        versions: (0, 6),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("key", One(String), (0, 3), NEVER, None, &[]),
                Entry("key_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                Entry("coordinator_keys", Many(String), (4, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), (0, 3), NEVER, None, &[]),
                Entry("error_message", One(String), (1, 3), (1, 3), None, &[]),
                Entry("node_id", One(Int32), (0, 3), NEVER, None, &[]),
                Entry("host", One(String), (0, 3), NEVER, None, &[]),
                Entry("port", One(Int32), (0, 3), NEVER, None, &[]),
                Entry("coordinators", Many(Struct), (4, i16::MAX), NEVER, None, &[
                    Entry("key", One(String), (4, i16::MAX), NEVER, None, &[]),
                    Entry("node_id", One(Int32), (4, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (4, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Int32), (4, i16::MAX), NEVER, None, &[]),
                    Entry("error_code", One(Int16), (4, i16::MAX), NEVER, None, &[]),
                    Entry("error_message", One(String), (4, i16::MAX), (4, i16::MAX), None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "JoinGroup",
        first: 114,
        versions: (0, 9),
        request: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("session_timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("rebalance_timeout_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("group_instance_id", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                Entry("protocol_type", One(String), ALL, NEVER, None, &[]),
                Entry("protocols", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("metadata", One(Bytes), ALL, NEVER, None, &[]),
                ]),
                Entry("reason", One(String), (8, i16::MAX), (8, i16::MAX), None, &[]),
            ],
        },
        response: Message {
            flexible: (6, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("generation_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("protocol_type", One(String), (7, i16::MAX), (7, i16::MAX), None, &[]),
                Entry("protocol_name", One(String), ALL, (7, i16::MAX), None, &[]),
                Entry("leader", One(String), ALL, NEVER, None, &[]),
                Entry("skip_assignment", One(Bool), (9, i16::MAX), NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("members", Many(Struct), ALL, NEVER, None, &[
                    Entry("member_id", One(String), ALL, NEVER, None, &[]),
                    Entry("group_instance_id", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                    Entry("metadata", One(Bytes), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "Heartbeat",
        first: 124,
        versions: (0, 4),
        request: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("generation_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("group_instance_id", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
            ],
        },
        response: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "LeaveGroup",
        first: 129,
        versions: (0, 5),
        request: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_id", One(String), (0, 2), NEVER, None, &[]),
                Entry("members", Many(Struct), (3, i16::MAX), NEVER, None, &[
                    Entry("member_id", One(String), (3, i16::MAX), NEVER, None, &[]),
                    Entry("group_instance_id", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                    Entry("reason", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("members", Many(Struct), (3, i16::MAX), NEVER, None, &[
                    Entry("member_id", One(String), (3, i16::MAX), NEVER, None, &[]),
                    Entry("group_instance_id", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                    Entry("error_code", One(Int16), (3, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "SyncGroup",
        first: 135,
        versions: (0, 5),
        request: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("generation_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("group_instance_id", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                Entry("protocol_type", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                Entry("protocol_name", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                Entry("assignments", Many(Struct), ALL, NEVER, None, &[
                    Entry("member_id", One(String), ALL, NEVER, None, &[]),
                    Entry("assignment", One(Bytes), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("protocol_type", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                Entry("protocol_name", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                Entry("assignment", One(Bytes), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "DescribeGroups",
        first: 141,
        versions: (0, 6),
        request: Message {
            flexible: (5, i16::MAX),
            fields: &[
                Entry("groups", Many(String), ALL, NEVER, None, &[]),
                Entry("include_authorized_operations", One(Bool), (3, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (5, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("groups", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), (6, i16::MAX), (6, i16::MAX), None, &[]),
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("group_state", One(String), ALL, NEVER, None, &[]),
                    Entry("protocol_type", One(String), ALL, NEVER, None, &[]),
                    Entry("protocol_data", One(String), ALL, NEVER, None, &[]),
                    Entry("members", Many(Struct), ALL, NEVER, None, &[
                        Entry("member_id", One(String), ALL, NEVER, None, &[]),
                        Entry("group_instance_id", One(String), (4, i16::MAX), (4, i16::MAX), None, &[]),
                        Entry("client_id", One(String), ALL, NEVER, None, &[]),
                        Entry("client_host", One(String), ALL, NEVER, None, &[]),
                        Entry("member_metadata", One(Bytes), ALL, NEVER, None, &[]),
                        Entry("member_assignment", One(Bytes), ALL, NEVER, None, &[]),
                    ]),
                    Entry("authorized_operations", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "ListGroups",
        first: 148,
        versions: (0, 5),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("states_filter", Many(String), (4, i16::MAX), NEVER, None, &[]),
                Entry("types_filter", Many(String), (5, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("groups", Many(Struct), ALL, NEVER, None, &[
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("protocol_type", One(String), ALL, NEVER, None, &[]),
                    Entry("group_state", One(String), (4, i16::MAX), NEVER, None, &[]),
                    Entry("group_type", One(String), (5, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "SaslHandshake",
        first: 154,
        versions: (0, 1),
        request: Message {
            flexible: NEVER,
            fields: &[
                Entry("mechanism", One(String), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: NEVER,
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("mechanisms", Many(String), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "ApiVersions",
        first: 156,
        versions: (0, 5),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("client_software_name", One(String), (3, i16::MAX), NEVER, None, &[]),
                Entry("client_software_version", One(String), (3, i16::MAX), NEVER, None, &[]),
                Entry("cluster_id", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                Entry("node_id", One(Int32), (5, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("api_keys", Many(Struct), ALL, NEVER, None, &[
                    Entry("api_key", One(Int16), ALL, NEVER, None, &[]),
                    Entry("min_version", One(Int16), ALL, NEVER, None, &[]),
                    Entry("max_version", One(Int16), ALL, NEVER, None, &[]),
                ]),
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("supported_features", Many(Struct), (3, i16::MAX), NEVER, Some(0), &[
                    Entry("name", One(String), (3, i16::MAX), NEVER, None, &[]),
                    Entry("min_version", One(Int16), (3, i16::MAX), NEVER, None, &[]),
                    Entry("max_version", One(Int16), (3, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("finalized_features_epoch", One(Int64), (3, i16::MAX), NEVER, Some(1), &[]),
                Entry("finalized_features", Many(Struct), (3, i16::MAX), NEVER, Some(2), &[
                    Entry("name", One(String), (3, i16::MAX), NEVER, None, &[]),
                    Entry("max_version_level", One(Int16), (3, i16::MAX), NEVER, None, &[]),
                    Entry("min_version_level", One(Int16), (3, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("zk_migration_ready", One(Bool), (3, i16::MAX), NEVER, Some(3), &[]),
            ],
        },
    },
    Api {
        name: "CreateTopics",
        first: 162,
        versions: (0, 7),
        request: Message {
            flexible: (5, i16::MAX),
            fields: &[
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("num_partitions", One(Int32), ALL, NEVER, None, &[]),
                    Entry("replication_factor", One(Int16), ALL, NEVER, None, &[]),
                    Entry("assignments", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("broker_ids", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                    Entry("configs", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("value", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("validate_only", One(Bool), (1, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (5, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (7, i16::MAX), NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                    Entry("topic_config_error_code", One(Int16), (5, i16::MAX), NEVER, Some(0), &[]),
                    Entry("num_partitions", One(Int32), (5, i16::MAX), NEVER, None, &[]),
                    Entry("replication_factor", One(Int16), (5, i16::MAX), NEVER, None, &[]),
                    Entry("configs", Many(Struct), (5, i16::MAX), (5, i16::MAX), None, &[
                        Entry("name", One(String), (5, i16::MAX), NEVER, None, &[]),
                        Entry("value", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                        Entry("read_only", One(Bool), (5, i16::MAX), NEVER, None, &[]),
                        Entry("config_source", One(Int8), (5, i16::MAX), NEVER, None, &[]),
                        Entry("is_sensitive", One(Bool), (5, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DeleteTopics",
        first: 170,
        versions: (0, 6),
        request: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("topic_names", Many(String), (0, 5), NEVER, None, &[]),
                Entry("topics", Many(Struct), (6, i16::MAX), NEVER, None, &[
                    Entry("name", One(String), (6, i16::MAX), (6, i16::MAX), None, &[]),
                    Entry("topic_id", One(Uuid), (6, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, (6, i16::MAX), None, &[]),
                    Entry("topic_id", One(Uuid), (6, i16::MAX), NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), (5, i16::MAX), (5, i16::MAX), None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "DeleteRecords",
        first: 177,
        versions: (0, 2),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("offset", One(Int64), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("low_watermark", One(Int64), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "InitProducerId",
        first: 180,
        versions: (0, 6),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("transactional_id", One(String), ALL, ALL, None, &[]),
                Entry("transaction_timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("producer_id", One(Int64), (3, i16::MAX), NEVER, None, &[]),
                Entry("producer_epoch", One(Int16), (3, i16::MAX), NEVER, None, &[]),
                Entry("enable2_pc", One(Bool), (6, i16::MAX), NEVER, None, &[]),
                Entry("keep_prepared_txn", One(Bool), (6, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                Entry("producer_epoch", One(Int16), ALL, NEVER, None, &[]),
                Entry("ongoing_txn_producer_id", One(Int64), (6, i16::MAX), NEVER, None, &[]),
                Entry("ongoing_txn_producer_epoch", One(Int16), (6, i16::MAX), NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "OffsetForLeaderEpoch",
        first: 187,
        versions: (0, 4),
        request: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("replica_id", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("current_leader_epoch", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                        Entry("end_offset", One(Int64), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "AddPartitionsToTxn",
        first: 192,
        versions: (0, 5),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("v3_and_below_transactional_id", One(String), (0, 3), NEVER, None, &[]),
                Entry("v3_and_below_producer_id", One(Int64), (0, 3), NEVER, None, &[]),
                Entry("v3_and_below_producer_epoch", One(Int16), (0, 3), NEVER, None, &[]),
                Entry("v3_and_below_topics", Many(Struct), (0, 3), NEVER, None, &[
                    Entry("name", One(String), (0, 3), NEVER, None, &[]),
                    Entry("partitions", Many(Int32), (0, 3), NEVER, None, &[]),
                ]),
                Entry("transactions", Many(Struct), (4, i16::MAX), NEVER, None, &[
                    Entry("transactional_id", One(String), (4, i16::MAX), NEVER, None, &[]),
                    Entry("producer_id", One(Int64), (4, i16::MAX), NEVER, None, &[]),
                    Entry("producer_epoch", One(Int16), (4, i16::MAX), NEVER, None, &[]),
                    Entry("verify_only", One(Bool), (4, i16::MAX), NEVER, None, &[]),
                    Entry("topics", Many(Struct), (4, i16::MAX), NEVER, None, &[
                        Entry("name", One(String), (4, i16::MAX), NEVER, None, &[]),
                        Entry("partitions", Many(Int32), (4, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("results_by_topic_v3_and_below", Many(Struct), (0, 3), NEVER, None, &[
                    Entry("name", One(String), (0, 3), NEVER, None, &[]),
                    Entry("results_by_partition", Many(Struct), (0, 3), NEVER, None, &[
                        Entry("partition_index", One(Int32), (0, 3), NEVER, None, &[]),
                        Entry("partition_error_code", One(Int16), (0, 3), NEVER, None, &[]),
                    ]),
                ]),
                Entry("error_code", One(Int16), (4, i16::MAX), NEVER, None, &[]),
                Entry("results_by_transaction", Many(Struct), (4, i16::MAX), NEVER, None, &[
                    Entry("transactional_id", One(String), (4, i16::MAX), NEVER, None, &[]),
                    Entry("topic_results", Many(Struct), (4, i16::MAX), NEVER, None, &[
                        Entry("name", One(String), (4, i16::MAX), NEVER, None, &[]),
                        Entry("results_by_partition", Many(Struct), (4, i16::MAX), NEVER, None, &[
                            Entry("partition_index", One(Int32), (4, i16::MAX), NEVER, None, &[]),
                            Entry("partition_error_code", One(Int16), (4, i16::MAX), NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "AddOffsetsToTxn",
        first: 198,
        versions: (0, 4),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("transactional_id", One(String), ALL, NEVER, None, &[]),
                Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                Entry("producer_epoch", One(Int16), ALL, NEVER, None, &[]),
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "EndTxn",
        first: 203,
        versions: (0, 5),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("transactional_id", One(String), ALL, NEVER, None, &[]),
                Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                Entry("producer_epoch", One(Int16), ALL, NEVER, None, &[]),
                Entry("committed", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("producer_id", One(Int64), (5, i16::MAX), NEVER, None, &[]),
                Entry("producer_epoch", One(Int16), (5, i16::MAX), NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "WriteTxnMarkers",
        first: 209,
        versions: (0, 2),
        request: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("markers", Many(Struct), ALL, NEVER, None, &[
                    Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                    Entry("producer_epoch", One(Int16), ALL, NEVER, None, &[]),
                    Entry("transaction_result", One(Bool), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("partition_indexes", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                    Entry("coordinator_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("transaction_version", One(Int8), (2, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("markers", Many(Struct), ALL, NEVER, None, &[
                    Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                            Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                            Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "TxnOffsetCommit",
        first: 212,
        versions: (0, 6),
        request: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("transactional_id", One(String), ALL, NEVER, None, &[]),
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                Entry("producer_epoch", One(Int16), ALL, NEVER, None, &[]),
                Entry("generation_id_or_member_epoch", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                Entry("member_id", One(String), (3, i16::MAX), NEVER, None, &[]),
                Entry("group_instance_id", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), (0, 5), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (6, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("committed_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("committed_leader_epoch", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                        Entry("committed_metadata", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: (3, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), (0, 5), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (6, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeAcls",
        first: 219,
        versions: (0, 3),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("resource_type_filter", One(Int8), ALL, NEVER, None, &[]),
                Entry("resource_name_filter", One(String), ALL, ALL, None, &[]),
                Entry("pattern_type_filter", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                Entry("principal_filter", One(String), ALL, ALL, None, &[]),
                Entry("host_filter", One(String), ALL, ALL, None, &[]),
                Entry("operation", One(Int8), ALL, NEVER, None, &[]),
                Entry("permission_type", One(Int8), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("resources", Many(Struct), ALL, NEVER, None, &[
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                    Entry("pattern_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                    Entry("acls", Many(Struct), ALL, NEVER, None, &[
                        Entry("principal", One(String), ALL, NEVER, None, &[]),
                        Entry("host", One(String), ALL, NEVER, None, &[]),
                        Entry("operation", One(Int8), ALL, NEVER, None, &[]),
                        Entry("permission_type", One(Int8), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "CreateAcls",
        first: 223,
        versions: (0, 3),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("creations", Many(Struct), ALL, NEVER, None, &[
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                    Entry("resource_pattern_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                    Entry("principal", One(String), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("operation", One(Int8), ALL, NEVER, None, &[]),
                    Entry("permission_type", One(Int8), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "DeleteAcls",
        first: 227,
        versions: (0, 3),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("filters", Many(Struct), ALL, NEVER, None, &[
                    Entry("resource_type_filter", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name_filter", One(String), ALL, ALL, None, &[]),
                    Entry("pattern_type_filter", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                    Entry("principal_filter", One(String), ALL, ALL, None, &[]),
                    Entry("host_filter", One(String), ALL, ALL, None, &[]),
                    Entry("operation", One(Int8), ALL, NEVER, None, &[]),
                    Entry("permission_type", One(Int8), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("filter_results", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("matching_acls", Many(Struct), ALL, NEVER, None, &[
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                        Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                        Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                        Entry("pattern_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                        Entry("principal", One(String), ALL, NEVER, None, &[]),
                        Entry("host", One(String), ALL, NEVER, None, &[]),
                        Entry("operation", One(Int8), ALL, NEVER, None, &[]),
                        Entry("permission_type", One(Int8), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeConfigs",
        first: 231,
        versions: (0, 4),
        request: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("resources", Many(Struct), ALL, NEVER, None, &[
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                    Entry("configuration_keys", Many(String), ALL, ALL, None, &[]),
                ]),
                Entry("include_synonyms", One(Bool), (1, i16::MAX), NEVER, None, &[]),
                Entry("include_documentation", One(Bool), (3, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (4, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                    Entry("configs", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("value", One(String), ALL, ALL, None, &[]),
                        Entry("read_only", One(Bool), ALL, NEVER, None, &[]),
                        Entry("is_default", One(Bool), (0, 0), NEVER, None, &[]),
                        Entry("config_source", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                        Entry("is_sensitive", One(Bool), ALL, NEVER, None, &[]),
                        Entry("synonyms", Many(Struct), (1, i16::MAX), NEVER, None, &[
                            Entry("name", One(String), (1, i16::MAX), NEVER, None, &[]),
                            Entry("value", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                            Entry("source", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                        ]),
                        Entry("config_type", One(Int8), (3, i16::MAX), NEVER, None, &[]),
                        Entry("documentation", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "AlterConfigs",
        first: 236,
        versions: (0, 2),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("resources", Many(Struct), ALL, NEVER, None, &[
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                    Entry("configs", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("value", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
                Entry("validate_only", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "AlterReplicaLogDirs",
        first: 239,
        versions: (0, 2),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("dirs", Many(Struct), ALL, NEVER, None, &[
                    Entry("path", One(String), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeLogDirs",
        first: 242,
        versions: (0, 5),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("topics", Many(Struct), ALL, ALL, None, &[
                    Entry("topic", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), (3, i16::MAX), NEVER, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("log_dir", One(String), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                            Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                            Entry("partition_size", One(Int64), ALL, NEVER, None, &[]),
                            Entry("offset_lag", One(Int64), ALL, NEVER, None, &[]),
                            Entry("is_future_key", One(Bool), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                    Entry("total_bytes", One(Int64), (4, i16::MAX), NEVER, None, &[]),
                    Entry("usable_bytes", One(Int64), (4, i16::MAX), NEVER, None, &[]),
                    Entry("is_cordoned", One(Bool), (5, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "SaslAuthenticate",
        first: 248,
        versions: (0, 2),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("auth_bytes", One(Bytes), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("auth_bytes", One(Bytes), ALL, NEVER, None, &[]),
                Entry("session_lifetime_ms", One(Int64), (1, i16::MAX), NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "CreatePartitions",
        first: 251,
        versions: (0, 3),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("count", One(Int32), ALL, NEVER, None, &[]),
                    Entry("assignments", Many(Struct), ALL, ALL, None, &[
                        Entry("broker_ids", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("validate_only", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "CreateDelegationToken",
        first: 255,
        versions: (0, 3),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("owner_principal_type", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                Entry("owner_principal_name", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                Entry("renewers", Many(Struct), ALL, NEVER, None, &[
                    Entry("principal_type", One(String), ALL, NEVER, None, &[]),
                    Entry("principal_name", One(String), ALL, NEVER, None, &[]),
                ]),
                Entry("max_lifetime_ms", One(Int64), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("principal_type", One(String), ALL, NEVER, None, &[]),
                Entry("principal_name", One(String), ALL, NEVER, None, &[]),
                Entry("token_requester_principal_type", One(String), (3, i16::MAX), NEVER, None, &[]),
                Entry("token_requester_principal_name", One(String), (3, i16::MAX), NEVER, None, &[]),
                Entry("issue_timestamp_ms", One(Int64), ALL, NEVER, None, &[]),
                Entry("expiry_timestamp_ms", One(Int64), ALL, NEVER, None, &[]),
                Entry("max_timestamp_ms", One(Int64), ALL, NEVER, None, &[]),
                Entry("token_id", One(String), ALL, NEVER, None, &[]),
                Entry("hmac", One(Bytes), ALL, NEVER, None, &[]),
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "RenewDelegationToken",
        first: 259,
        versions: (0, 2),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("hmac", One(Bytes), ALL, NEVER, None, &[]),
                Entry("renew_period_ms", One(Int64), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("expiry_timestamp_ms", One(Int64), ALL, NEVER, None, &[]),
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "ExpireDelegationToken",
        first: 262,
        versions: (0, 2),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("hmac", One(Bytes), ALL, NEVER, None, &[]),
                Entry("expiry_time_period_ms", One(Int64), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("expiry_timestamp_ms", One(Int64), ALL, NEVER, None, &[]),
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "DescribeDelegationToken",
        first: 265,
        versions: (0, 3),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("owners", Many(Struct), ALL, ALL, None, &[
                    Entry("principal_type", One(String), ALL, NEVER, None, &[]),
                    Entry("principal_name", One(String), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("tokens", Many(Struct), ALL, NEVER, None, &[
                    Entry("principal_type", One(String), ALL, NEVER, None, &[]),
                    Entry("principal_name", One(String), ALL, NEVER, None, &[]),
                    Entry("token_requester_principal_type", One(String), (3, i16::MAX), NEVER, None, &[]),
                    Entry("token_requester_principal_name", One(String), (3, i16::MAX), NEVER, None, &[]),
                    Entry("issue_timestamp", One(Int64), ALL, NEVER, None, &[]),
                    Entry("expiry_timestamp", One(Int64), ALL, NEVER, None, &[]),
                    Entry("max_timestamp", One(Int64), ALL, NEVER, None, &[]),
                    Entry("token_id", One(String), ALL, NEVER, None, &[]),
                    Entry("hmac", One(Bytes), ALL, NEVER, None, &[]),
                    Entry("renewers", Many(Struct), ALL, NEVER, None, &[
                        Entry("principal_type", One(String), ALL, NEVER, None, &[]),
                        Entry("principal_name", One(String), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "DeleteGroups",
        first: 269,
        versions: (0, 3),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("groups_names", Many(String), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), (3, i16::MAX), (3, i16::MAX), None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "ElectLeaders",
        first: 273,
        versions: (0, 2),
        request: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("election_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                Entry("topic_partitions", Many(Struct), ALL, ALL, None, &[
                    Entry("topic", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (2, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), (1, i16::MAX), NEVER, None, &[]),
                Entry("replica_election_results", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic", One(String), ALL, NEVER, None, &[]),
                    Entry("partition_result", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "IncrementalAlterConfigs",
        first: 276,
        versions: (0, 1),
        request: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("resources", Many(Struct), ALL, NEVER, None, &[
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                    Entry("configs", Many(Struct), ALL, NEVER, None, &[
                        Entry("name", One(String), ALL, NEVER, None, &[]),
                        Entry("config_operation", One(Int8), ALL, NEVER, None, &[]),
                        Entry("value", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
                Entry("validate_only", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("resource_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "AlterPartitionReassignments",
        first: 278,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("allow_replication_factor_change", One(Bool), (1, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("replicas", Many(Int32), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("allow_replication_factor_change", One(Bool), (1, i16::MAX), NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "ListPartitionReassignments",
        first: 280,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, ALL, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partition_indexes", Many(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("replicas", Many(Int32), ALL, NEVER, None, &[]),
                        Entry("adding_replicas", Many(Int32), ALL, NEVER, None, &[]),
                        Entry("removing_replicas", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "OffsetDelete",
        first: 281,
        versions: (0, 0),
        request: Message {
            flexible: NEVER,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: NEVER,
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeClientQuotas",
        first: 282,
        versions: (0, 1),
        request: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("components", Many(Struct), ALL, NEVER, None, &[
                    Entry("entity_type", One(String), ALL, NEVER, None, &[]),
                    Entry("match_type", One(Int8), ALL, NEVER, None, &[]),
                    Entry("match", One(String), ALL, ALL, None, &[]),
                ]),
                Entry("strict", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("entries", Many(Struct), ALL, ALL, None, &[
                    Entry("entity", Many(Struct), ALL, NEVER, None, &[
                        Entry("entity_type", One(String), ALL, NEVER, None, &[]),
                        Entry("entity_name", One(String), ALL, ALL, None, &[]),
                    ]),
                    Entry("values", Many(Struct), ALL, NEVER, None, &[
                        Entry("key", One(String), ALL, NEVER, None, &[]),
                        Entry("value", One(Float64), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "AlterClientQuotas",
        first: 284,
        versions: (0, 1),
        request: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("entries", Many(Struct), ALL, NEVER, None, &[
                    Entry("entity", Many(Struct), ALL, NEVER, None, &[
                        Entry("entity_type", One(String), ALL, NEVER, None, &[]),
                        Entry("entity_name", One(String), ALL, ALL, None, &[]),
                    ]),
                    Entry("ops", Many(Struct), ALL, NEVER, None, &[
                        Entry("key", One(String), ALL, NEVER, None, &[]),
                        Entry("value", One(Float64), ALL, NEVER, None, &[]),
                        Entry("remove", One(Bool), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("validate_only", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("entries", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("entity", Many(Struct), ALL, NEVER, None, &[
                        Entry("entity_type", One(String), ALL, NEVER, None, &[]),
                        Entry("entity_name", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeUserScramCredentials",
        first: 286,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("users", Many(Struct), ALL, ALL, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("user", One(String), ALL, NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("credential_infos", Many(Struct), ALL, NEVER, None, &[
                        Entry("mechanism", One(Int8), ALL, NEVER, None, &[]),
                        Entry("iterations", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "AlterUserScramCredentials",
        first: 287,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("deletions", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("mechanism", One(Int8), ALL, NEVER, None, &[]),
                ]),
                Entry("upsertions", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("mechanism", One(Int8), ALL, NEVER, None, &[]),
                    Entry("iterations", One(Int32), ALL, NEVER, None, &[]),
                    Entry("salt", One(Bytes), ALL, NEVER, None, &[]),
                    Entry("salted_password", One(Bytes), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("user", One(String), ALL, NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "Vote",
        first: 288,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("cluster_id", One(String), ALL, ALL, None, &[]),
                Entry("voter_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("replica_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("replica_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("replica_directory_id", One(Uuid), (1, i16::MAX), NEVER, None, &[]),
                        Entry("voter_directory_id", One(Uuid), (1, i16::MAX), NEVER, None, &[]),
                        Entry("last_offset_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("last_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("pre_vote", One(Bool), (2, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("vote_granted", One(Bool), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("node_endpoints", Many(Struct), (1, i16::MAX), NEVER, Some(0), &[
                    Entry("node_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Uint16), (1, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "BeginQuorumEpoch",
        first: 291,
        versions: (0, 1),
        request: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("cluster_id", One(String), ALL, ALL, None, &[]),
                Entry("voter_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("voter_directory_id", One(Uuid), (1, i16::MAX), NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("leader_endpoints", Many(Struct), (1, i16::MAX), NEVER, None, &[
                    Entry("name", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Uint16), (1, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("node_endpoints", Many(Struct), (1, i16::MAX), NEVER, Some(0), &[
                    Entry("node_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Uint16), (1, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "EndQuorumEpoch",
        first: 293,
        versions: (0, 1),
        request: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("cluster_id", One(String), ALL, ALL, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("preferred_successors", Many(Int32), (0, 0), NEVER, None, &[]),
                        Entry("preferred_candidates", Many(Struct), (1, i16::MAX), NEVER, None, &[
                            Entry("candidate_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                            Entry("candidate_directory_id", One(Uuid), (1, i16::MAX), NEVER, None, &[]),
                        ]),
                    ]),
                ]),
                Entry("leader_endpoints", Many(Struct), (1, i16::MAX), NEVER, None, &[
                    Entry("name", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Uint16), (1, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: (1, i16::MAX),
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("node_endpoints", Many(Struct), (1, i16::MAX), NEVER, Some(0), &[
                    Entry("node_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Uint16), (1, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeQuorum",
        first: 295,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), (2, i16::MAX), (2, i16::MAX), None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), (2, i16::MAX), (2, i16::MAX), None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("high_watermark", One(Int64), ALL, NEVER, None, &[]),
                        Entry("current_voters", Many(Struct), ALL, NEVER, None, &[
                            Entry("replica_id", One(Int32), ALL, NEVER, None, &[]),
                            Entry("replica_directory_id", One(Uuid), (2, i16::MAX), NEVER, None, &[]),
                            Entry("log_end_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("last_fetch_timestamp", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                            Entry("last_caught_up_timestamp", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                        ]),
                        Entry("observers", Many(Struct), ALL, NEVER, None, &[
                            Entry("replica_id", One(Int32), ALL, NEVER, None, &[]),
                            Entry("replica_directory_id", One(Uuid), (2, i16::MAX), NEVER, None, &[]),
                            Entry("log_end_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("last_fetch_timestamp", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                            Entry("last_caught_up_timestamp", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                        ]),
                    ]),
                ]),
                Entry("nodes", Many(Struct), (2, i16::MAX), NEVER, None, &[
                    Entry("node_id", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                    Entry("listeners", Many(Struct), (2, i16::MAX), NEVER, None, &[
                        Entry("name", One(String), (2, i16::MAX), NEVER, None, &[]),
                        Entry("host", One(String), (2, i16::MAX), NEVER, None, &[]),
                        Entry("port", One(Uint16), (2, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "AlterPartition",
        first: 298,
        versions: (0, 3),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("broker_epoch", One(Int64), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), (0, 1), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (2, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("new_isr", Many(Int32), (0, 2), NEVER, None, &[]),
                        Entry("new_isr_with_epochs", Many(Struct), (3, i16::MAX), NEVER, None, &[
                            Entry("broker_id", One(Int32), (3, i16::MAX), NEVER, None, &[]),
                            Entry("broker_epoch", One(Int64), (3, i16::MAX), NEVER, None, &[]),
                        ]),
                        Entry("leader_recovery_state", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                        Entry("partition_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), (0, 1), NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), (2, i16::MAX), NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("isr", Many(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_recovery_state", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                        Entry("partition_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "UpdateFeatures",
        first: 302,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("feature_updates", Many(Struct), ALL, NEVER, None, &[
                    Entry("feature", One(String), ALL, NEVER, None, &[]),
                    Entry("max_version_level", One(Int16), ALL, NEVER, None, &[]),
                    Entry("allow_downgrade", One(Bool), (0, 0), NEVER, None, &[]),
                    Entry("upgrade_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("validate_only", One(Bool), (1, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("results", Many(Struct), (0, 1), NEVER, None, &[
                    Entry("feature", One(String), (0, 1), NEVER, None, &[]),
                    Entry("error_code", One(Int16), (0, 1), NEVER, None, &[]),
                    Entry("error_message", One(String), (0, 1), (0, 1), None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "Envelope",
        first: 305,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("request_data", One(Bytes), ALL, NEVER, None, &[]),
                Entry("request_principal", One(Bytes), ALL, ALL, None, &[]),
                Entry("client_host_address", One(Bytes), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("response_data", One(Bytes), ALL, ALL, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "FetchSnapshot",
        first: 306,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("cluster_id", One(String), ALL, ALL, Some(0), &[]),
                Entry("replica_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("max_bytes", One(Int32), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("current_leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("snapshot_id", One(Struct), ALL, NEVER, None, &[
                            Entry("end_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("epoch", One(Int32), ALL, NEVER, None, &[]),
                        ]),
                        Entry("position", One(Int64), ALL, NEVER, None, &[]),
                        Entry("replica_directory_id", One(Uuid), (1, i16::MAX), NEVER, Some(0), &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("snapshot_id", One(Struct), ALL, NEVER, None, &[
                            Entry("end_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("epoch", One(Int32), ALL, NEVER, None, &[]),
                        ]),
                        Entry("current_leader", One(Struct), ALL, NEVER, Some(0), &[
                            Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                            Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        ]),
                        Entry("size", One(Int64), ALL, NEVER, None, &[]),
                        Entry("position", One(Int64), ALL, NEVER, None, &[]),
                        Entry("unaligned_records", One(Records), ALL, NEVER, None, &[]),
                    ]),
                ]),
                Entry("node_endpoints", Many(Struct), (1, i16::MAX), NEVER, Some(0), &[
                    Entry("node_id", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                    Entry("host", One(String), (1, i16::MAX), NEVER, None, &[]),
                    Entry("port", One(Uint16), (1, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeCluster",
        first: 308,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("include_cluster_authorized_operations", One(Bool), ALL, NEVER, None, &[]),
                Entry("endpoint_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                Entry("include_fenced_brokers", One(Bool), (2, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("endpoint_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                Entry("cluster_id", One(String), ALL, NEVER, None, &[]),
                Entry("controller_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("brokers", Many(Struct), ALL, NEVER, None, &[
                    Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Int32), ALL, NEVER, None, &[]),
                    Entry("rack", One(String), ALL, ALL, None, &[]),
                    Entry("is_fenced", One(Bool), (2, i16::MAX), NEVER, None, &[]),
                ]),
                Entry("cluster_authorized_operations", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "DescribeProducers",
        first: 311,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partition_indexes", Many(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                        Entry("active_producers", Many(Struct), ALL, NEVER, None, &[
                            Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                            Entry("producer_epoch", One(Int32), ALL, NEVER, None, &[]),
                            Entry("last_sequence", One(Int32), ALL, NEVER, None, &[]),
                            Entry("last_timestamp", One(Int64), ALL, NEVER, None, &[]),
                            Entry("coordinator_epoch", One(Int32), ALL, NEVER, None, &[]),
                            Entry("current_txn_start_offset", One(Int64), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "BrokerRegistration",
        first: 312,
        versions: (0, 4),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("cluster_id", One(String), ALL, NEVER, None, &[]),
                Entry("incarnation_id", One(Uuid), ALL, NEVER, None, &[]),
                Entry("listeners", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Uint16), ALL, NEVER, None, &[]),
                    Entry("security_protocol", One(Int16), ALL, NEVER, None, &[]),
                ]),
                Entry("features", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("min_supported_version", One(Int16), ALL, NEVER, None, &[]),
                    Entry("max_supported_version", One(Int16), ALL, NEVER, None, &[]),
                ]),
                Entry("rack", One(String), ALL, ALL, None, &[]),
                Entry("is_migrating_zk_broker", One(Bool), (1, i16::MAX), NEVER, None, &[]),
                Entry("log_dirs", Many(Uuid), (2, i16::MAX), NEVER, None, &[]),
                Entry("previous_broker_epoch", One(Int64), (3, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("broker_epoch", One(Int64), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "BrokerHeartbeat",
        first: 317,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("broker_epoch", One(Int64), ALL, NEVER, None, &[]),
                Entry("current_metadata_offset", One(Int64), ALL, NEVER, None, &[]),
                Entry("want_fence", One(Bool), ALL, NEVER, None, &[]),
                Entry("want_shut_down", One(Bool), ALL, NEVER, None, &[]),
                Entry("offline_log_dirs", Many(Uuid), (1, i16::MAX), NEVER, Some(0), &[]),
                Entry("cordoned_log_dirs", Many(Uuid), (2, i16::MAX), (2, i16::MAX), Some(1), &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("is_caught_up", One(Bool), ALL, NEVER, None, &[]),
                Entry("is_fenced", One(Bool), ALL, NEVER, None, &[]),
                Entry("should_shut_down", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "UnregisterBroker",
        first: 320,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
            ],
        },
    },
    Api {
        name: "DescribeTransactions",
        first: 321,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("transactional_ids", Many(String), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("transaction_states", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("transactional_id", One(String), ALL, NEVER, None, &[]),
                    Entry("transaction_state", One(String), ALL, NEVER, None, &[]),
                    Entry("transaction_timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                    Entry("transaction_start_time_ms", One(Int64), ALL, NEVER, None, &[]),
                    Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                    Entry("producer_epoch", One(Int16), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic", One(String), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "ListTransactions",
        first: 322,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("state_filters", Many(String), ALL, NEVER, None, &[]),
                Entry("producer_id_filters", Many(Int64), ALL, NEVER, None, &[]),
                Entry("duration_filter", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                Entry("transactional_id_pattern", One(String), (2, i16::MAX), (2, i16::MAX), None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("unknown_state_filters", Many(String), ALL, NEVER, None, &[]),
                Entry("transaction_states", Many(Struct), ALL, NEVER, None, &[
                    Entry("transactional_id", One(String), ALL, NEVER, None, &[]),
                    Entry("producer_id", One(Int64), ALL, NEVER, None, &[]),
                    Entry("transaction_state", One(String), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "AllocateProducerIds",
        first: 325,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("broker_epoch", One(Int64), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("producer_id_start", One(Int64), ALL, NEVER, None, &[]),
                Entry("producer_id_len", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "ConsumerGroupHeartbeat",
        first: 326,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("instance_id", One(String), ALL, ALL, None, &[]),
                Entry("rack_id", One(String), ALL, ALL, None, &[]),
                Entry("rebalance_timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("subscribed_topic_names", Many(String), ALL, ALL, None, &[]),
                Entry("subscribed_topic_regex", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                Entry("server_assignor", One(String), ALL, ALL, None, &[]),
                Entry("topic_partitions", Many(Struct), ALL, ALL, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("member_id", One(String), ALL, ALL, None, &[]),
                Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("heartbeat_interval_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("assignment", One(Struct), ALL, ALL, None, &[
                    Entry("topic_partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "ConsumerGroupDescribe",
        first: 328,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_ids", Many(String), ALL, NEVER, None, &[]),
                Entry("include_authorized_operations", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("groups", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("group_state", One(String), ALL, NEVER, None, &[]),
                    Entry("group_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("assignment_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("assignor_name", One(String), ALL, NEVER, None, &[]),
                    Entry("members", Many(Struct), ALL, NEVER, None, &[
                        Entry("member_id", One(String), ALL, NEVER, None, &[]),
                        Entry("instance_id", One(String), ALL, ALL, None, &[]),
                        Entry("rack_id", One(String), ALL, ALL, None, &[]),
                        Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("client_id", One(String), ALL, NEVER, None, &[]),
                        Entry("client_host", One(String), ALL, NEVER, None, &[]),
                        Entry("subscribed_topic_names", Many(String), ALL, NEVER, None, &[]),
                        Entry("subscribed_topic_regex", One(String), ALL, ALL, None, &[]),
                        Entry("assignment", One(Struct), ALL, NEVER, None, &[
                            Entry("topic_partitions", Many(Struct), ALL, NEVER, None, &[
                                Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                                Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                        ]),
                        Entry("target_assignment", One(Struct), ALL, NEVER, None, &[
                            Entry("topic_partitions", Many(Struct), ALL, NEVER, None, &[
                                Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                                Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                        ]),
                        Entry("member_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                    ]),
                    Entry("authorized_operations", One(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "ControllerRegistration",
        first: 330,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("controller_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("incarnation_id", One(Uuid), ALL, NEVER, None, &[]),
                Entry("zk_migration_ready", One(Bool), ALL, NEVER, None, &[]),
                Entry("listeners", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Uint16), ALL, NEVER, None, &[]),
                    Entry("security_protocol", One(Int16), ALL, NEVER, None, &[]),
                ]),
                Entry("features", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("min_supported_version", One(Int16), ALL, NEVER, None, &[]),
                    Entry("max_supported_version", One(Int16), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
            ],
        },
    },
    Api {
        name: "GetTelemetrySubscriptions",
        first: 331,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("client_instance_id", One(Uuid), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("client_instance_id", One(Uuid), ALL, NEVER, None, &[]),
                Entry("subscription_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("accepted_compression_types", Many(Int8), ALL, NEVER, None, &[]),
                Entry("push_interval_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("telemetry_max_bytes", One(Int32), ALL, NEVER, None, &[]),
                Entry("delta_temporality", One(Bool), ALL, NEVER, None, &[]),
                Entry("requested_metrics", Many(String), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "PushTelemetry",
        first: 332,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("client_instance_id", One(Uuid), ALL, NEVER, None, &[]),
                Entry("subscription_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("terminating", One(Bool), ALL, NEVER, None, &[]),
                Entry("compression_type", One(Int8), ALL, NEVER, None, &[]),
                Entry("metrics", One(Bytes), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
            ],
        },
    },
    Api {
        name: "AssignReplicasToDirs",
        first: 333,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("broker_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("broker_epoch", One(Int64), ALL, NEVER, None, &[]),
                Entry("directories", Many(Struct), ALL, NEVER, None, &[
                    Entry("id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                            Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("directories", Many(Struct), ALL, NEVER, None, &[
                    Entry("id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                            Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                            Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "ListConfigResources",
        first: 334,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("resource_types", Many(Int8), (1, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("config_resources", Many(Struct), ALL, NEVER, None, &[
                    Entry("resource_name", One(String), ALL, NEVER, None, &[]),
                    Entry("resource_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeTopicPartitions",
        first: 336,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                ]),
                Entry("response_partition_limit", One(Int32), ALL, NEVER, None, &[]),
                Entry("cursor", One(Struct), ALL, ALL, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("name", One(String), ALL, ALL, None, &[]),
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("is_internal", One(Bool), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("replica_nodes", Many(Int32), ALL, NEVER, None, &[]),
                        Entry("isr_nodes", Many(Int32), ALL, NEVER, None, &[]),
                        Entry("eligible_leader_replicas", Many(Int32), ALL, ALL, None, &[]),
                        Entry("last_known_elr", Many(Int32), ALL, ALL, None, &[]),
                        Entry("offline_replicas", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                    Entry("topic_authorized_operations", One(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("next_cursor", One(Struct), ALL, ALL, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "ShareGroupHeartbeat",
        first: 337,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("rack_id", One(String), ALL, ALL, None, &[]),
                Entry("subscribed_topic_names", Many(String), ALL, ALL, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("member_id", One(String), ALL, ALL, None, &[]),
                Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("heartbeat_interval_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("assignment", One(Struct), ALL, ALL, None, &[
                    Entry("topic_partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "ShareGroupDescribe",
        first: 339,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_ids", Many(String), ALL, NEVER, None, &[]),
                Entry("include_authorized_operations", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("groups", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("group_state", One(String), ALL, NEVER, None, &[]),
                    Entry("group_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("assignment_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("assignor_name", One(String), ALL, NEVER, None, &[]),
                    Entry("members", Many(Struct), ALL, NEVER, None, &[
                        Entry("member_id", One(String), ALL, NEVER, None, &[]),
                        Entry("rack_id", One(String), ALL, ALL, None, &[]),
                        Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("client_id", One(String), ALL, NEVER, None, &[]),
                        Entry("client_host", One(String), ALL, NEVER, None, &[]),
                        Entry("subscribed_topic_names", Many(String), ALL, NEVER, None, &[]),
                        Entry("assignment", One(Struct), ALL, NEVER, None, &[
                            Entry("topic_partitions", Many(Struct), ALL, NEVER, None, &[
                                Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                                Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                        ]),
                    ]),
                    Entry("authorized_operations", One(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "ShareFetch",
        first: 341,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, ALL, None, &[]),
                Entry("member_id", One(String), ALL, ALL, None, &[]),
                Entry("share_session_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("max_wait_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("min_bytes", One(Int32), ALL, NEVER, None, &[]),
                Entry("max_bytes", One(Int32), ALL, NEVER, None, &[]),
                Entry("max_records", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("batch_size", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("share_acquire_mode", One(Int8), (2, i16::MAX), NEVER, None, &[]),
                Entry("is_renew_ack", One(Bool), (2, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("partition_max_bytes", One(Int32), (0, 0), NEVER, None, &[]),
                        Entry("acknowledgement_batches", Many(Struct), ALL, NEVER, None, &[
                            Entry("first_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("last_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("acknowledge_types", Many(Int8), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
                Entry("forgotten_topics_data", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("acquisition_lock_timeout_ms", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                        Entry("acknowledge_error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("acknowledge_error_message", One(String), ALL, ALL, None, &[]),
                        Entry("current_leader", One(Struct), ALL, NEVER, None, &[
                            Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                            Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        ]),
                        Entry("records", One(Records), ALL, (0, 0), None, &[]),
                        Entry("acquired_records", Many(Struct), ALL, NEVER, None, &[
                            Entry("first_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("last_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("delivery_count", One(Int16), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
                Entry("node_endpoints", Many(Struct), ALL, NEVER, None, &[
                    Entry("node_id", One(Int32), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Int32), ALL, NEVER, None, &[]),
                    Entry("rack", One(String), ALL, ALL, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "ShareAcknowledge",
        first: 344,
        versions: (0, 2),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, ALL, None, &[]),
                Entry("member_id", One(String), ALL, ALL, None, &[]),
                Entry("share_session_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("is_renew_ack", One(Bool), (2, i16::MAX), NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("acknowledgement_batches", Many(Struct), ALL, NEVER, None, &[
                            Entry("first_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("last_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("acknowledge_types", Many(Int8), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("acquisition_lock_timeout_ms", One(Int32), (2, i16::MAX), NEVER, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                        Entry("current_leader", One(Struct), ALL, NEVER, None, &[
                            Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                            Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
                Entry("node_endpoints", Many(Struct), ALL, NEVER, None, &[
                    Entry("node_id", One(Int32), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Int32), ALL, NEVER, None, &[]),
                    Entry("rack", One(String), ALL, ALL, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "AddRaftVoter",
        first: 347,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("cluster_id", One(String), ALL, ALL, None, &[]),
                Entry("timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("voter_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("voter_directory_id", One(Uuid), ALL, NEVER, None, &[]),
                Entry("listeners", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Uint16), ALL, NEVER, None, &[]),
                ]),
                Entry("ack_when_committed", One(Bool), (1, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
            ],
        },
    },
    Api {
        name: "RemoveRaftVoter",
        first: 349,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("cluster_id", One(String), ALL, ALL, None, &[]),
                Entry("voter_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("voter_directory_id", One(Uuid), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
            ],
        },
    },
    Api {
        name: "UpdateRaftVoter",
        first: 350,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("cluster_id", One(String), ALL, ALL, None, &[]),
                Entry("current_leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("voter_id", One(Int32), ALL, NEVER, None, &[]),
                Entry("voter_directory_id", One(Uuid), ALL, NEVER, None, &[]),
                Entry("listeners", Many(Struct), ALL, NEVER, None, &[
                    Entry("name", One(String), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Uint16), ALL, NEVER, None, &[]),
                ]),
                Entry("k_raft_version_feature", One(Struct), ALL, NEVER, None, &[
                    Entry("min_supported_version", One(Int16), ALL, NEVER, None, &[]),
                    Entry("max_supported_version", One(Int16), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("current_leader", One(Struct), ALL, NEVER, Some(0), &[
                    Entry("leader_id", One(Int32), ALL, NEVER, None, &[]),
                    Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Int32), ALL, NEVER, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "InitializeShareGroupState",
        first: 351,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("state_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("start_offset", One(Int64), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "ReadShareGroupState",
        first: 352,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                        Entry("state_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("start_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("state_batches", Many(Struct), ALL, NEVER, None, &[
                            Entry("first_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("last_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("delivery_state", One(Int8), ALL, NEVER, None, &[]),
                            Entry("delivery_count", One(Int16), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "WriteShareGroupState",
        first: 353,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("state_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("start_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("delivery_complete_count", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                        Entry("state_batches", Many(Struct), ALL, NEVER, None, &[
                            Entry("first_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("last_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("delivery_state", One(Int8), ALL, NEVER, None, &[]),
                            Entry("delivery_count", One(Int16), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DeleteShareGroupState",
        first: 355,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "ReadShareGroupStateSummary",
        first: 356,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("results", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                        Entry("state_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("start_offset", One(Int64), ALL, NEVER, None, &[]),
                        Entry("delivery_complete_count", One(Int32), (1, i16::MAX), NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "StreamsGroupHeartbeat",
        first: 358,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("endpoint_information_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("instance_id", One(String), ALL, ALL, None, &[]),
                Entry("rack_id", One(String), ALL, ALL, None, &[]),
                Entry("rebalance_timeout_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("topology", One(Struct), ALL, ALL, None, &[
                    Entry("epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("subtopologies", Many(Struct), ALL, NEVER, None, &[
                        Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                        Entry("source_topics", Many(String), ALL, NEVER, None, &[]),
                        Entry("source_topic_regex", Many(String), ALL, NEVER, None, &[]),
                        Entry("state_changelog_topics", Many(Struct), ALL, NEVER, None, &[
                            Entry("name", One(String), ALL, NEVER, None, &[]),
                            Entry("partitions", One(Int32), ALL, NEVER, None, &[]),
                            Entry("replication_factor", One(Int16), ALL, NEVER, None, &[]),
                            Entry("topic_configs", Many(Struct), ALL, NEVER, None, &[
                                Entry("key", One(String), ALL, NEVER, None, &[]),
                                Entry("value", One(String), ALL, NEVER, None, &[]),
                            ]),
                        ]),
                        Entry("repartition_sink_topics", Many(String), ALL, NEVER, None, &[]),
                        Entry("repartition_source_topics", Many(Struct), ALL, NEVER, None, &[
                            Entry("name", One(String), ALL, NEVER, None, &[]),
                            Entry("partitions", One(Int32), ALL, NEVER, None, &[]),
                            Entry("replication_factor", One(Int16), ALL, NEVER, None, &[]),
                            Entry("topic_configs", Many(Struct), ALL, NEVER, None, &[
                                Entry("key", One(String), ALL, NEVER, None, &[]),
                                Entry("value", One(String), ALL, NEVER, None, &[]),
                            ]),
                        ]),
                        Entry("copartition_groups", Many(Struct), ALL, NEVER, None, &[
                            Entry("source_topics", Many(Int16), ALL, NEVER, None, &[]),
                            Entry("source_topic_regex", Many(Int16), ALL, NEVER, None, &[]),
                            Entry("repartition_source_topics", Many(Int16), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
                Entry("active_tasks", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("standby_tasks", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("warmup_tasks", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("process_id", One(String), ALL, ALL, None, &[]),
                Entry("user_endpoint", One(Struct), ALL, ALL, None, &[
                    Entry("host", One(String), ALL, NEVER, None, &[]),
                    Entry("port", One(Uint16), ALL, NEVER, None, &[]),
                ]),
                Entry("client_tags", Many(Struct), ALL, ALL, None, &[
                    Entry("key", One(String), ALL, NEVER, None, &[]),
                    Entry("value", One(String), ALL, NEVER, None, &[]),
                ]),
                Entry("task_offsets", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                    Entry("offset", One(Int64), ALL, NEVER, None, &[]),
                ]),
                Entry("task_end_offsets", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                    Entry("offset", One(Int64), ALL, NEVER, None, &[]),
                ]),
                Entry("shutdown_application", One(Bool), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("heartbeat_interval_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("acceptable_recovery_lag_legacy", One(Int32), (0, 0), NEVER, None, &[]),
                Entry("task_offset_interval_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("acceptable_recovery_lag", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                Entry("status", Many(Struct), ALL, ALL, None, &[
                    Entry("status_code", One(Int8), ALL, NEVER, None, &[]),
                    Entry("status_detail", One(String), ALL, NEVER, None, &[]),
                ]),
                Entry("active_tasks", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("standby_tasks", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("warmup_tasks", Many(Struct), ALL, ALL, None, &[
                    Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                ]),
                Entry("topology_description_required", One(Bool), (1, i16::MAX), NEVER, None, &[]),
                Entry("endpoint_information_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("partitions_by_user_endpoint", Many(Struct), ALL, ALL, None, &[
                    Entry("user_endpoint", One(Struct), ALL, NEVER, None, &[
                        Entry("host", One(String), ALL, NEVER, None, &[]),
                        Entry("port", One(Uint16), ALL, NEVER, None, &[]),
                    ]),
                    Entry("active_partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic", One(String), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                    Entry("standby_partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic", One(String), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "StreamsGroupDescribe",
        first: 360,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_ids", Many(String), ALL, NEVER, None, &[]),
                Entry("include_authorized_operations", One(Bool), ALL, NEVER, None, &[]),
                Entry("include_topology_description", One(Bool), (1, i16::MAX), NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("groups", Many(Struct), ALL, NEVER, None, &[
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("group_state", One(String), ALL, NEVER, None, &[]),
                    Entry("group_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("assignment_epoch", One(Int32), ALL, NEVER, None, &[]),
                    Entry("topology", One(Struct), ALL, ALL, None, &[
                        Entry("epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("subtopologies", Many(Struct), ALL, ALL, None, &[
                            Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                            Entry("source_topics", Many(String), ALL, NEVER, None, &[]),
                            Entry("repartition_sink_topics", Many(String), ALL, NEVER, None, &[]),
                            Entry("state_changelog_topics", Many(Struct), ALL, NEVER, None, &[
                                Entry("name", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", One(Int32), ALL, NEVER, None, &[]),
                                Entry("replication_factor", One(Int16), ALL, NEVER, None, &[]),
                                Entry("topic_configs", Many(Struct), ALL, NEVER, None, &[
                                    Entry("key", One(String), ALL, NEVER, None, &[]),
                                    Entry("value", One(String), ALL, NEVER, None, &[]),
                                ]),
                            ]),
                            Entry("repartition_source_topics", Many(Struct), ALL, NEVER, None, &[
                                Entry("name", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", One(Int32), ALL, NEVER, None, &[]),
                                Entry("replication_factor", One(Int16), ALL, NEVER, None, &[]),
                                Entry("topic_configs", Many(Struct), ALL, NEVER, None, &[
                                    Entry("key", One(String), ALL, NEVER, None, &[]),
                                    Entry("value", One(String), ALL, NEVER, None, &[]),
                                ]),
                            ]),
                        ]),
                    ]),
                    Entry("members", Many(Struct), ALL, NEVER, None, &[
                        Entry("member_id", One(String), ALL, NEVER, None, &[]),
                        Entry("member_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("instance_id", One(String), ALL, ALL, None, &[]),
                        Entry("rack_id", One(String), ALL, ALL, None, &[]),
                        Entry("client_id", One(String), ALL, NEVER, None, &[]),
                        Entry("client_host", One(String), ALL, NEVER, None, &[]),
                        Entry("topology_epoch", One(Int32), ALL, NEVER, None, &[]),
                        Entry("process_id", One(String), ALL, NEVER, None, &[]),
                        Entry("user_endpoint", One(Struct), ALL, ALL, None, &[
                            Entry("host", One(String), ALL, NEVER, None, &[]),
                            Entry("port", One(Uint16), ALL, NEVER, None, &[]),
                        ]),
                        Entry("client_tags", Many(Struct), ALL, NEVER, None, &[
                            Entry("key", One(String), ALL, NEVER, None, &[]),
                            Entry("value", One(String), ALL, NEVER, None, &[]),
                        ]),
                        Entry("task_offsets", Many(Struct), ALL, NEVER, None, &[
                            Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                            Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                            Entry("offset", One(Int64), ALL, NEVER, None, &[]),
                        ]),
                        Entry("task_end_offsets", Many(Struct), ALL, NEVER, None, &[
                            Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                            Entry("partition", One(Int32), ALL, NEVER, None, &[]),
                            Entry("offset", One(Int64), ALL, NEVER, None, &[]),
                        ]),
                        Entry("assignment", One(Struct), ALL, NEVER, None, &[
                            Entry("active_tasks", Many(Struct), ALL, NEVER, None, &[
                                Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                            Entry("standby_tasks", Many(Struct), ALL, NEVER, None, &[
                                Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                            Entry("warmup_tasks", Many(Struct), ALL, NEVER, None, &[
                                Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                        ]),
                        Entry("target_assignment", One(Struct), ALL, NEVER, None, &[
                            Entry("active_tasks", Many(Struct), ALL, NEVER, None, &[
                                Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                            Entry("standby_tasks", Many(Struct), ALL, NEVER, None, &[
                                Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                            Entry("warmup_tasks", Many(Struct), ALL, NEVER, None, &[
                                Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                                Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                            ]),
                        ]),
                        Entry("is_classic", One(Bool), ALL, NEVER, None, &[]),
                    ]),
                    Entry("authorized_operations", One(Int32), ALL, NEVER, None, &[]),
                    Entry("topology_description", One(Struct), (1, i16::MAX), (1, i16::MAX), None, &[
                        Entry("subtopologies", Many(Struct), (1, i16::MAX), NEVER, None, &[
                            Entry("subtopology_id", One(String), (1, i16::MAX), NEVER, None, &[]),
                            Entry("nodes", Many(Struct), (1, i16::MAX), NEVER, None, &[
                                Entry("name", One(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("node_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                                Entry("source_topics", Many(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("sink_topic", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                                Entry("stores", Many(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("successors", Many(String), (1, i16::MAX), NEVER, None, &[]),
                            ]),
                        ]),
                        Entry("global_stores", Many(Struct), (1, i16::MAX), NEVER, None, &[
                            Entry("source", One(Struct), (1, i16::MAX), NEVER, None, &[
                                Entry("name", One(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("node_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                                Entry("source_topics", Many(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("sink_topic", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                                Entry("stores", Many(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("successors", Many(String), (1, i16::MAX), NEVER, None, &[]),
                            ]),
                            Entry("processor", One(Struct), (1, i16::MAX), NEVER, None, &[
                                Entry("name", One(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("node_type", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                                Entry("source_topics", Many(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("sink_topic", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                                Entry("stores", Many(String), (1, i16::MAX), NEVER, None, &[]),
                                Entry("successors", Many(String), (1, i16::MAX), NEVER, None, &[]),
                            ]),
                        ]),
                    ]),
                    Entry("topology_description_status", One(Int8), (1, i16::MAX), NEVER, None, &[]),
                    Entry("assignor_name", One(String), (1, i16::MAX), (1, i16::MAX), None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "DescribeShareGroupOffsets",
        first: 362,
        versions: (0, 1),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("groups", Many(Struct), ALL, NEVER, None, &[
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, ALL, None, &[
                        Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Int32), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("groups", Many(Struct), ALL, NEVER, None, &[
                    Entry("group_id", One(String), ALL, NEVER, None, &[]),
                    Entry("topics", Many(Struct), ALL, NEVER, None, &[
                        Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                        Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                        Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                            Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                            Entry("start_offset", One(Int64), ALL, NEVER, None, &[]),
                            Entry("leader_epoch", One(Int32), ALL, NEVER, None, &[]),
                            Entry("lag", One(Int64), (1, i16::MAX), NEVER, None, &[]),
                            Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                            Entry("error_message", One(String), ALL, ALL, None, &[]),
                        ]),
                    ]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "AlterShareGroupOffsets",
        first: 364,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("start_offset", One(Int64), ALL, NEVER, None, &[]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("partitions", Many(Struct), ALL, NEVER, None, &[
                        Entry("partition_index", One(Int32), ALL, NEVER, None, &[]),
                        Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                        Entry("error_message", One(String), ALL, ALL, None, &[]),
                    ]),
                ]),
            ],
        },
    },
    Api {
        name: "DeleteShareGroupOffsets",
        first: 365,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("topics", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
                Entry("responses", Many(Struct), ALL, NEVER, None, &[
                    Entry("topic_name", One(String), ALL, NEVER, None, &[]),
                    Entry("topic_id", One(Uuid), ALL, NEVER, None, &[]),
                    Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                    Entry("error_message", One(String), ALL, ALL, None, &[]),
                ]),
            ],
        },
    },
    Api {
        name: "StreamsGroupTopologyDescriptionUpdate",
        first: 366,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("group_id", One(String), ALL, NEVER, None, &[]),
                Entry("member_id", One(String), ALL, NEVER, None, &[]),
                Entry("topology_epoch", One(Int32), ALL, NEVER, None, &[]),
                Entry("topology_description", One(Struct), ALL, NEVER, None, &[
                    Entry("subtopologies", Many(Struct), ALL, NEVER, None, &[
                        Entry("subtopology_id", One(String), ALL, NEVER, None, &[]),
                        Entry("nodes", Many(Struct), ALL, NEVER, None, &[
                            Entry("name", One(String), ALL, NEVER, None, &[]),
                            Entry("node_type", One(Int8), ALL, NEVER, None, &[]),
                            Entry("source_topics", Many(String), ALL, NEVER, None, &[]),
                            Entry("sink_topic", One(String), ALL, ALL, None, &[]),
                            Entry("stores", Many(String), ALL, NEVER, None, &[]),
                            Entry("successors", Many(String), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                    Entry("global_stores", Many(Struct), ALL, NEVER, None, &[
                        Entry("source", One(Struct), ALL, NEVER, None, &[
                            Entry("name", One(String), ALL, NEVER, None, &[]),
                            Entry("node_type", One(Int8), ALL, NEVER, None, &[]),
                            Entry("source_topics", Many(String), ALL, NEVER, None, &[]),
                            Entry("sink_topic", One(String), ALL, ALL, None, &[]),
                            Entry("stores", Many(String), ALL, NEVER, None, &[]),
                            Entry("successors", Many(String), ALL, NEVER, None, &[]),
                        ]),
                        Entry("processor", One(Struct), ALL, NEVER, None, &[
                            Entry("name", One(String), ALL, NEVER, None, &[]),
                            Entry("node_type", One(Int8), ALL, NEVER, None, &[]),
                            Entry("source_topics", Many(String), ALL, NEVER, None, &[]),
                            Entry("sink_topic", One(String), ALL, ALL, None, &[]),
                            Entry("stores", Many(String), ALL, NEVER, None, &[]),
                            Entry("successors", Many(String), ALL, NEVER, None, &[]),
                        ]),
                    ]),
                ]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
            ],
        },
    },
    Api {
        name: "UnregisterController",
        first: 367,
        versions: (0, 0),
        request: Message {
            flexible: ALL,
            fields: &[
                Entry("controller_id", One(Int32), ALL, NEVER, None, &[]),
            ],
        },
        response: Message {
            flexible: ALL,
            fields: &[
                Entry("throttle_time_ms", One(Int32), ALL, NEVER, None, &[]),
                Entry("error_code", One(Int16), ALL, NEVER, None, &[]),
                Entry("error_message", One(String), ALL, ALL, None, &[]),
            ],
        },
    },
];

/// So many pairs of api key and version there are.
pub(super) const PAIRS: usize = 368;
