"""The join of compose or engine facts with Kafka: brokers, vantages, reachability."""
