"""Kafka's error codes: name, whether a client may try again, and what it means in a few words.

Source: the `Errors` enumeration of Kafka 4.4, which also holds every code of 3.9. A number that is not in it is shown,
not rejected: `ERROR_CODE(999)`.
"""

from functools import cache

from netdiag.values import dataclass

NONE = 0
UNSUPPORTED_SASL_MECHANISM = 33
ILLEGAL_SASL_STATE = 34
UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
SASL_AUTHENTICATION_FAILED = 58


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCode:
    """One error code. `retriable`: the same request may succeed later without anything being repaired."""

    code: int
    name: str
    retriable: bool
    meaning: str


def error_code(code: int) -> ErrorCode:
    """The error code of a number; an unknown number gets a name that shows it."""
    known = _by_code().get(code)
    if known is not None:
        return known
    return ErrorCode(code=code, name=f"ERROR_CODE({code})", retriable=False, meaning="a code unknown to netdiag")


def error_name(code: int) -> str:
    """The name of an error code: UNSUPPORTED_VERSION, or ERROR_CODE(999)."""
    return error_code(code).name


def error_codes() -> tuple[ErrorCode, ...]:
    """Every known error code, by number."""
    return tuple(_by_code().values())


@cache
def _by_code() -> dict[int, ErrorCode]:
    codes = {}
    for line in _TABLE.strip().splitlines():
        number, name, meaning = line.split(maxsplit=2)
        code = int(number.removesuffix("*"))
        codes[code] = ErrorCode(code=code, name=name, retriable=number.endswith("*"), meaning=meaning)
    return codes


# number, "*" where a client may try again, name, meaning
_TABLE = """
-1 UNKNOWN_SERVER_ERROR the broker hit an error it has no code for; its log has the cause
0 NONE no error
1 OFFSET_OUT_OF_RANGE the offset asked for is before the first or behind the last one kept
2* CORRUPT_MESSAGE a record batch failed its checksum or breaks a rule of its topic
3* UNKNOWN_TOPIC_OR_PARTITION the broker does not host this topic or partition
4 INVALID_FETCH_SIZE the fetch size asked for is not possible
5* LEADER_NOT_AVAILABLE the partition has no leader at the moment
6* NOT_LEADER_OR_FOLLOWER the broker asked is not the leader, or not a replica, of the partition
7* REQUEST_TIMED_OUT the broker could not finish the request in the time it was given
8 BROKER_NOT_AVAILABLE the broker is not available
9* REPLICA_NOT_AVAILABLE the broker cannot serve its replica of the partition now
10 MESSAGE_TOO_LARGE a record batch is larger than the topic or broker accepts
11 STALE_CONTROLLER_EPOCH the request comes from a controller that has been replaced
12 OFFSET_METADATA_TOO_LARGE the text stored with a committed offset is too long
13* NETWORK_EXCEPTION the connection ended before the answer came
14* COORDINATOR_LOAD_IN_PROGRESS the coordinator is still reading its state
15* COORDINATOR_NOT_AVAILABLE no coordinator is available, for example because its topic cannot be created
16* NOT_COORDINATOR the broker asked is not the coordinator
17 INVALID_TOPIC_EXCEPTION the topic's name is not allowed, or it is an internal topic
18 RECORD_LIST_TOO_LARGE a record batch is larger than a log segment
19* NOT_ENOUGH_REPLICAS fewer replicas are in sync than min.insync.replicas asks for
20* NOT_ENOUGH_REPLICAS_AFTER_APPEND written, but by then to fewer in-sync replicas than asked for
21 INVALID_REQUIRED_ACKS acks is none of 0, 1 and -1
22 ILLEGAL_GENERATION the member speaks for an older generation of its group
23 INCONSISTENT_GROUP_PROTOCOL the member has no assignment protocol in common with its group
24 INVALID_GROUP_ID the group id is not allowed
25 UNKNOWN_MEMBER_ID the coordinator does not know this member; it was removed or never joined
26 INVALID_SESSION_TIMEOUT the session timeout is outside what the broker allows
27 REBALANCE_IN_PROGRESS the group is rebalancing; the member has to join again
28 INVALID_COMMIT_OFFSET_SIZE the offset commit is too large
29 TOPIC_AUTHORIZATION_FAILED this principal may not do that with the topic
30 GROUP_AUTHORIZATION_FAILED this principal may not use the group
31 CLUSTER_AUTHORIZATION_FAILED this principal may not do that with the cluster
32 INVALID_TIMESTAMP a record's timestamp is outside what the topic accepts
33 UNSUPPORTED_SASL_MECHANISM the listener does not enable this SASL mechanism
34 ILLEGAL_SASL_STATE the request does not fit the state of the authentication
35 UNSUPPORTED_VERSION the broker does not speak this version of the request
36 TOPIC_ALREADY_EXISTS a topic of this name exists
37 INVALID_PARTITIONS the number of partitions is not possible
38 INVALID_REPLICATION_FACTOR there are fewer brokers than replicas asked for, or it is below 1
39 INVALID_REPLICA_ASSIGNMENT the replicas asked for cannot be assigned so
40 INVALID_CONFIG a configuration value is not allowed
41* NOT_CONTROLLER the node asked is not the active controller
42 INVALID_REQUEST the broker could read the request and makes no sense of it
43 UNSUPPORTED_FOR_MESSAGE_FORMAT the topic's message format does not allow this
44 POLICY_VIOLATION a policy configured on the broker forbids this
45 OUT_OF_ORDER_SEQUENCE_NUMBER an idempotent producer's batch is missing before this one
46 DUPLICATE_SEQUENCE_NUMBER an idempotent producer's batch came twice
47 INVALID_PRODUCER_EPOCH the producer's epoch is older than the one the broker knows
48 INVALID_TXN_STATE the transaction is in a state that does not allow this
49 INVALID_PRODUCER_ID_MAPPING the producer id does not belong to this transactional id
50 INVALID_TRANSACTION_TIMEOUT the transaction timeout is above transaction.max.timeout.ms
51* CONCURRENT_TRANSACTIONS an earlier transaction of this producer is still being finished
52 TRANSACTION_COORDINATOR_FENCED the transaction coordinator that asks has been replaced
53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED this principal may not use the transactional id
54 SECURITY_DISABLED the broker has no authorizer, so this cannot be asked
55 OPERATION_NOT_ATTEMPTED the broker did not try, because another part of the request failed
56* KAFKA_STORAGE_ERROR the broker's disk or log directory failed
57 LOG_DIR_NOT_FOUND the log directory named is none of the broker's
58 SASL_AUTHENTICATION_FAILED the credentials were not accepted
59 UNKNOWN_PRODUCER_ID the broker no longer has the state of this producer
60 REASSIGNMENT_IN_PROGRESS the partition is being moved already
61 DELEGATION_TOKEN_AUTH_DISABLED delegation tokens are not enabled
62 DELEGATION_TOKEN_NOT_FOUND there is no such delegation token
63 DELEGATION_TOKEN_OWNER_MISMATCH only owner or renewer may do that with a delegation token
64 DELEGATION_TOKEN_REQUEST_NOT_ALLOWED delegation tokens cannot be asked for over this connection
65 DELEGATION_TOKEN_AUTHORIZATION_FAILED this principal may not do that with the delegation token
66 DELEGATION_TOKEN_EXPIRED the delegation token has expired
67 INVALID_PRINCIPAL_TYPE this kind of principal is not supported
68 NON_EMPTY_GROUP the group still has members
69 GROUP_ID_NOT_FOUND there is no such group
70* FETCH_SESSION_ID_NOT_FOUND the broker no longer has this fetch session
71* INVALID_FETCH_SESSION_EPOCH the fetch session is at another epoch
72* LISTENER_NOT_FOUND the partition's leader has no listener of the name this connection uses
73 TOPIC_DELETION_DISABLED delete.topic.enable is off
74* FENCED_LEADER_EPOCH the client knows an older leader epoch than the broker
75* UNKNOWN_LEADER_EPOCH the client knows a newer leader epoch than the broker
76 UNSUPPORTED_COMPRESSION_TYPE the compression of the records is not supported by this version of the request
77 STALE_BROKER_EPOCH the broker has registered anew since
78* OFFSET_NOT_AVAILABLE a new leader does not know yet which offsets are safe to read
79 MEMBER_ID_REQUIRED the member has to join again with the id it was given
80* PREFERRED_LEADER_NOT_AVAILABLE the partition's first replica cannot lead now
81 GROUP_MAX_SIZE_REACHED the group has as many members as group.max.size allows
82 FENCED_INSTANCE_ID another member uses the same group.instance.id
83* ELIGIBLE_LEADERS_NOT_AVAILABLE no replica can become leader now
84* ELECTION_NOT_NEEDED the partition has the leader it should have
85 NO_REASSIGNMENT_IN_PROGRESS the partition is not being moved
86 GROUP_SUBSCRIBED_TO_TOPIC the group still reads the topic whose offsets should be deleted
87 INVALID_RECORD the broker's checks refused a record
88* UNSTABLE_OFFSET_COMMIT an open transaction holds committed offsets back
89* THROTTLING_QUOTA_EXCEEDED a quota on changes is used up
90 PRODUCER_FENCED a newer producer uses the same transactional id
91 RESOURCE_NOT_FOUND the request names something that does not exist
92 DUPLICATE_RESOURCE the request names something twice
93 UNACCEPTABLE_CREDENTIAL the credential does not meet the rules
94 INCONSISTENT_VOTER_SET two controllers do not agree on who votes
95 INVALID_UPDATE_VERSION the feature level asked for is not possible
96 FEATURE_UPDATE_FAILED the feature levels could not be changed
97 PRINCIPAL_DESERIALIZATION_FAILURE the controller cannot read the principal of a forwarded request
98 SNAPSHOT_NOT_FOUND there is no such metadata snapshot
99 POSITION_OUT_OF_RANGE the position in the snapshot does not exist
100* UNKNOWN_TOPIC_ID the broker hosts no topic of this id
101 DUPLICATE_BROKER_REGISTRATION another running broker is registered under this node id
102 BROKER_ID_NOT_REGISTERED no broker is registered under this node id
103* INCONSISTENT_TOPIC_ID the topic was deleted and made anew: log and request have different ids
104 INCONSISTENT_CLUSTER_ID the sender belongs to another cluster
105 TRANSACTIONAL_ID_NOT_FOUND there is no such transactional id
106* FETCH_SESSION_TOPIC_ID_ERROR the fetch session mixes topics by name and by id
107 INELIGIBLE_REPLICA a replica that may not be in sync was proposed for the in-sync set
108 NEW_LEADER_ELECTED the change was made and gave the partition another leader
109 OFFSET_MOVED_TO_TIERED_STORAGE the offset is only in tiered storage
110 FENCED_MEMBER_EPOCH the member is behind its group and has to give up its partitions and join again
111 UNRELEASED_INSTANCE_ID another member still holds this group.instance.id
112 UNSUPPORTED_ASSIGNOR the group coordinator does not know this assignor
113 STALE_MEMBER_EPOCH the member used an epoch that has passed; it retries with its new one
114 MISMATCHED_ENDPOINT_TYPE a broker's request went to a controller, or the other way round
115 UNSUPPORTED_ENDPOINT_TYPE this kind of endpoint is not supported
116 UNKNOWN_CONTROLLER_ID there is no such controller
117 UNKNOWN_SUBSCRIPTION_ID the telemetry subscription is not, or no longer, valid
118 TELEMETRY_TOO_LARGE the telemetry is larger than the broker accepts
119 INVALID_REGISTRATION the controller refuses this broker's registration
120 TRANSACTION_ABORTABLE the transaction failed and can be aborted, then the producer may go on
121 INVALID_RECORD_STATE the record cannot be acknowledged in its state
122* SHARE_SESSION_NOT_FOUND the broker no longer has this share session
123* INVALID_SHARE_SESSION_EPOCH the share session is at another epoch
124 FENCED_STATE_EPOCH the share group's state has moved on
125 INVALID_VOTER_KEY the voter's id and directory are not those of the controller asked
126 DUPLICATE_VOTER the controller votes already
127 VOTER_NOT_FOUND the controller is none of the voters
128 INVALID_REGULAR_EXPRESSION the subscription's regular expression cannot be read
129 REBOOTSTRAP_REQUIRED what the client knows of the cluster is too old; it has to start from its bootstrap again
130 STREAMS_INVALID_TOPOLOGY the streams topology is not valid
131 STREAMS_INVALID_TOPOLOGY_EPOCH the streams topology's epoch is not valid
132 STREAMS_TOPOLOGY_FENCED the streams topology is older than the group's
133* SHARE_SESSION_LIMIT_REACHED the broker holds as many share sessions as it may
134 GROUP_DELETION_FAILED the group could not be deleted; the answer has the reason
135 STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED the description of the streams topology could not be stored
136 CONTROLLER_ID_NOT_REGISTERED no controller is registered under this node id
"""
