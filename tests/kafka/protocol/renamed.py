"""Fields that a Kafka release renamed without touching the wire: (api key, older name) -> name in the table."""

RENAMED = {
    (28, "generation_id"): "generation_id_or_member_epoch",
    (52, "candidate_epoch"): "replica_epoch",
    (52, "candidate_id"): "replica_id",
    (52, "candidate_directory_id"): "replica_directory_id",
    (74, "client_metrics_resources"): "config_resources",
    (74, "name"): "resource_name",
    (88, "acceptable_recovery_lag"): "acceptable_recovery_lag_legacy",
}
