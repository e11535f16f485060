//! A program that reads what one version of a message tells, made of its layout and of [`roles`].
//!
//! A message of a capture is read once and most of its fields are not wanted, so walking the layout each time costs more
//! than the reading does. Neighbours of fixed size that nobody wants become one step; an array of nothing else becomes
//! one step, too. A step reads all of its bytes or none, so that reading can stop and go on before each of them.

use serde::{Deserialize, Serialize};

use super::roles::{self, Column, Row, RowKind};
use super::table::{self, Field, Kind, Layout};
use crate::options::{Table, Wanted};

/// What is to be told, of what depends on the tables that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tells {
    pub(super) partitions: bool,
    pub(super) batches: bool,
    pub(super) leaders: bool,
    pub(super) endpoints: bool,
    pub(super) groups: bool,
    pub(super) software: bool,
    /// The bytes of records.
    pub(super) pieces: bool,
}

impl Tells {
    pub(super) fn of(wanted: Wanted) -> Tells {
        Tells {
            partitions: wanted.has(Table::Partitions),
            batches: wanted.has(Table::Batches),
            leaders: wanted.has(Table::Leaders),
            endpoints: wanted.has(Table::Endpoints),
            groups: wanted.has(Table::GroupEvents),
            software: wanted.has(Table::Connections),
            pieces: wanted.has(Table::Records),
        }
    }
}

/// Where a number goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Acks,
    WaitMs,
    ReplicaId,
    SessionId,
    SessionEpoch,
    Generation,
    SessionTimeout,
    RebalanceTimeout,
    KeyType,
    Committed,
    Throttle,
    ControllerId,
    /// Columns of a partition's row; that counts with the first of them.
    Partition,
    Offset,
    HighWatermark,
    LastStableOffset,
    LogStartOffset,
    Timestamp,
    LeaderId,
    LeaderEpoch,
    /// Columns of a leader's row, as above.
    LedPartition,
    LedBy,
    LedInEpoch,
    Replicas,
    InSync,
    /// Columns of an endpoint's row, that counts with the second of them.
    NodeId,
    Port,
    /// The number is a row of its own.
    PartitionRow,
    /// The number is a pair with the topic.
    Forgotten,
    Owned,
    Assigned,
    /// What kind of resource the struct is about; behind the last, name and kind are known.
    ResourceType,
    LastResourceType,
}

/// Where a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Nowhere,
    TransactionalId,
    Group,
    Mechanism,
    SoftwareName,
    SoftwareVersion,
    MemberId,
    InstanceId,
    ProtocolType,
    Protocol,
    Reason,
    ClusterId,
    Leader,
    CoordinatorKeys,
    Members,
    /// Topics, too.
    Subscription,
    /// An element of an array of topics.
    Topics,
    Topic(TopicStep),
    ResourceName,
    LastResourceName,
    Host,
    Rack,
    CoordinatorKey,
}

/// What is known of the topic of a struct once a field was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TopicStep {
    /// The struct has both a name and an id.
    pub(super) both: bool,
    /// All is known behind this field.
    pub(super) last: bool,
    /// The struct tells leaders: where the topic is in error, it has none.
    pub(super) leaders: bool,
}

/// A message of the consumer's own protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Embedded {
    Subscription,
    Assignment,
}

/// A list that is there, if empty, once its array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opens {
    Nothing,
    Members,
    Subscription,
    Owned,
    Assignment,
}

/// How a length is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Compact,
    Int16,
    Int32,
}

impl Length {
    /// The least number of bytes.
    fn least(self) -> usize {
        match self {
            Length::Compact => 1,
            Length::Int16 => 2,
            Length::Int32 => 4,
        }
    }
}

/// One step. Places in the program are counted from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// So many bytes are to be there for the steps that follow, or a message that was not cut is wrong.
    Run(u32),
    /// Fields of fixed size that nobody wants.
    Skip(u32),
    Int8(To),
    Int16(To),
    Uint16(To),
    Int32(To),
    Int64(To),
    /// The error code of a response, or of a part of it; `of_topic`: what a topic without leaders has.
    ErrorCode {
        row: Option<RowKind>,
        of_topic: bool,
    },
    TopicId(TopicStep),
    /// A string; `first`: only the first that is not null counts; `of_rows`: it names the group of rows that follow.
    Text {
        length: Length,
        to: Text,
        first: bool,
        of_rows: bool,
    },
    SkipText(Length),
    SkipBytes(Length),
    Embedded(Length, Embedded),
    /// Record batches; `least` is what another partition takes.
    Records {
        length: Length,
        least: u32,
    },
    /// A struct that may be null, then `behind` is next.
    Present {
        behind: u16,
    },
    /// What follows stands so many times, up to the [`Op::Next`] before `behind`; `least` is what an element takes.
    Array {
        length: Length,
        least: u32,
        behind: u16,
        opens: Opens,
    },
    /// The end of an element.
    Next {
        start: u16,
    },
    /// An array that nobody wants but for its `count`. `structs`: the elements are structs, not numbers.
    SkipArray {
        length: Length,
        least: u16,
        structs: bool,
        count: Option<To>,
    },
    /// An array of numbers of which the first counts.
    FirstInt64(Length, To),
    /// A row begins, if `listed`: otherwise only its batches count.
    Row {
        kind: RowKind,
        listed: bool,
    },
    EndRow {
        kind: RowKind,
        listed: bool,
    },
    /// Tagged fields: [`Op::Tag`] and [`Op::EndTag`] follow, then the fields that are wanted; then `behind`.
    Tags {
        behind: u16,
    },
    /// A tag and the size of its field, which is one of these cases or nobody's.
    Tag {
        first: u16,
        cases: u16,
    },
    /// The end of a tagged field; `tag` is the place of [`Op::Tag`], where there are more of them.
    EndTag {
        tag: u16,
        behind: u16,
    },
    End,
}

/// The steps of a message.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// Tags with the places where their fields are read.
    pub(super) cases: Vec<(u32, u16)>,
    pub(super) has_records: bool,
}

impl Program {
    /// The program of a message, if the table has that.
    pub(super) fn of(api_key: i16, api_version: i16, is_request: bool, tells: Tells) -> Option<Program> {
        let layout = table::layout(api_key, api_version, is_request)?;
        let mut compiler = Compiler {
            api_key,
            is_request,
            tells,
            program: Program::default(),
            run: Vec::new(),
        };
        compiler.structure(layout, "", Scope::default());
        compiler.flush(0);
        compiler.emit(Op::End);
        compiler.program.has_records = roles::has_records(api_key, is_request);
        Some(compiler.program)
    }
}

/// What the fields of a struct need to know of the structs around them.
#[derive(Clone, Copy, Default)]
struct Scope<'a> {
    row: Option<Row>,
    row_path: &'a str,
    listed: bool,
    /// The least that an element of the row's array takes.
    least: usize,
    looped: bool,
}

impl Scope<'_> {
    /// What the row around it has of a field.
    fn column(&self, path: &str) -> Option<Column> {
        let row = self.row?;
        let inside = match self.row_path {
            "" => path,
            outside => path.strip_prefix(outside)?.strip_prefix('.')?,
        };
        row.column(inside)
            .filter(|column| self.listed || is_of_records(*column))
    }
}

/// Whether a row that is not listed has a column: then only its batches count.
fn is_of_records(column: Column) -> bool {
    matches!(column, Column::Records | Column::Number(To::Partition))
}

/// What the fields of a struct say of a topic.
#[derive(Clone, Copy)]
enum Told {
    Nothing,
    Topic {
        both: bool,
        last: &'static str,
        leaders: bool,
    },
    Resource {
        last: &'static str,
    },
}

struct Compiler {
    api_key: i16,
    is_request: bool,
    tells: Tells,
    program: Program,
    /// Neighbours of fixed size that are not written yet.
    run: Vec<(usize, Option<Op>)>,
}

impl Compiler {
    fn structure(&mut self, layout: &Layout, path: &str, scope: Scope<'_>) {
        let row = self
            .row(path)
            .filter(|(row, _)| layout.fields.iter().any(|field| field.name == row.needs));
        let mut scope = scope;
        if roles::row_of(self.api_key, self.is_request, path).is_some() {
            scope.least = layout.least;
        }
        if let Some((row, listed)) = row {
            scope = Scope {
                row: Some(row),
                row_path: path,
                listed,
                ..scope
            };
            self.flush(0);
            self.emit(Op::Row { kind: row.kind, listed });
        }
        let told = self.told(layout, path);
        for field in &layout.fields {
            self.field(field, &join(path, field.name), scope, told);
        }
        if layout.flexible {
            self.tags(layout, path, scope);
        }
        if let Some((row, listed)) = row {
            self.flush(0);
            self.emit(Op::EndRow { kind: row.kind, listed });
        }
    }

    /// The row that a struct becomes, and whether it is listed; one that is not may be needed for its batches.
    fn row(&self, path: &str) -> Option<(Row, bool)> {
        let row = roles::row_of(self.api_key, self.is_request, path)?;
        let listed = match row.kind {
            RowKind::Partition => self.tells.partitions,
            RowKind::Leader => self.tells.leaders,
            RowKind::Endpoint => self.tells.endpoints,
        };
        (listed || (row.has_records() && (self.tells.batches || self.tells.pieces))).then_some((row, listed))
    }

    fn told(&self, layout: &Layout, path: &str) -> Told {
        let is_name = |field: &Field| {
            field.kind == Kind::String && !field.array && roles::is_topic_name(self.api_key, &join(path, field.name))
        };
        let is_id = |field: &Field| field.kind == Kind::Uuid && !field.array && field.name == "topic_id";
        if let Some(last) = layout.fields.iter().rfind(|field| is_name(field) || is_id(field)) {
            let both = layout.fields.iter().any(is_name) && layout.fields.iter().any(is_id);
            let rows = roles::row_of(self.api_key, self.is_request, &join(path, "partitions"));
            let leaders = self.tells.leaders && rows.is_some_and(|row| row.kind == RowKind::Leader);
            return Told::Topic {
                both,
                last: last.name,
                leaders,
            };
        }
        let mut pair = layout
            .fields
            .iter()
            .filter(|field| matches!(field.name, "resource_type" | "resource_name"));
        match (pair.next(), pair.next()) {
            (Some(_), Some(last)) => Told::Resource { last: last.name },
            _ => Told::Nothing,
        }
    }

    // Fields.

    fn field(&mut self, field: &Field, path: &str, scope: Scope<'_>, told: Told) {
        if field.array {
            return self.array(field, path, scope);
        }
        match field.kind {
            Kind::Struct => self.inner(field, path, scope),
            Kind::Records if roles::has_records(self.api_key, self.is_request) => {
                let length = length_of(field);
                self.flush(length.least());
                self.emit(Op::Records {
                    length,
                    least: narrow(scope.least),
                });
            }
            Kind::Bytes | Kind::Records => {
                let length = length_of(field);
                self.flush(length.least());
                let embedded = roles::embedded(self.api_key, self.is_request, path).filter(|_| self.tells.groups);
                self.emit(embedded.map_or(Op::SkipBytes(length), |embedded| Op::Embedded(length, embedded)));
            }
            Kind::String => self.string(field, path, scope, told),
            kind => {
                let size = kind.size().unwrap_or_default();
                let op = self.number(field, path, scope, told);
                self.run.push((size, op));
            }
        }
    }

    fn inner(&mut self, field: &Field, path: &str, scope: Scope<'_>) {
        if !field.nullable {
            return self.structure(&field.inside, path, scope);
        }
        self.flush(1);
        let place = self.emit(Op::Present { behind: 0 });
        self.structure(&field.inside, path, scope);
        self.flush(0);
        let behind = self.here();
        self.patch(place, Op::Present { behind });
    }

    /// What is done with a field of fixed size, if anything.
    fn number(&self, field: &Field, path: &str, scope: Scope<'_>, told: Told) -> Option<Op> {
        let column = scope.column(path);
        if !self.is_request && roles::is_error_code(field.name) {
            let of_topic = field.name == "error_code" && matches!(told, Told::Topic { leaders: true, .. });
            let row = scope
                .row
                .filter(|_| column == Some(Column::ErrorCode))
                .map(|row| row.kind);
            return Some(Op::ErrorCode { row, of_topic });
        }
        match told {
            Told::Topic { both, last, leaders } if field.name == "topic_id" => {
                return Some(Op::TopicId(TopicStep {
                    both,
                    last: last == field.name,
                    leaders,
                }));
            }
            Told::Resource { last } if field.name == "resource_type" => {
                let to = if last == field.name {
                    To::LastResourceType
                } else {
                    To::ResourceType
                };
                return number_op(field.kind, to);
            }
            _ => {}
        }
        let of_message = roles::number_of(self.is_request, path).filter(|to| self.wants_number(*to));
        let of_row = match column {
            Some(Column::Number(to)) => Some(to),
            _ => None,
        };
        number_op(field.kind, of_message.or(of_row)?)
    }

    fn wants_number(&self, to: To) -> bool {
        to != To::Generation || self.tells.groups
    }

    fn wants_text(&self, to: Text) -> bool {
        match to {
            Text::SoftwareName | Text::SoftwareVersion => self.tells.software,
            Text::MemberId | Text::InstanceId | Text::Protocol | Text::Leader | Text::Reason => self.tells.groups,
            Text::Members | Text::Subscription => self.tells.groups,
            _ => true,
        }
    }

    fn string(&mut self, field: &Field, path: &str, scope: Scope<'_>, told: Told) {
        let length = length_of(field);
        self.flush(length.least());
        let of_rows = roles::is_group_of_rows(self.api_key, path);
        let of_row = match scope.column(path) {
            Some(Column::Text(to)) => Some(to),
            _ => None,
        };
        let to = self.text(field, path, told).or(of_row);
        self.emit(match to {
            Some(to) => Op::Text {
                length,
                to,
                first: scope.looped && is_of_message(to),
                of_rows,
            },
            None if of_rows => Op::Text {
                length,
                to: Text::Nowhere,
                first: false,
                of_rows,
            },
            None => Op::SkipText(length),
        });
    }

    /// Where a string goes, if anywhere.
    fn text(&self, field: &Field, path: &str, told: Told) -> Option<Text> {
        match told {
            Told::Topic { both, last, leaders } if roles::is_topic_name(self.api_key, path) => {
                return Some(Text::Topic(TopicStep {
                    both,
                    last: last == field.name,
                    leaders,
                }));
            }
            Told::Resource { last } if field.name == "resource_name" => {
                return Some(if last == field.name {
                    Text::LastResourceName
                } else {
                    Text::ResourceName
                });
            }
            _ => {}
        }
        let of_message = roles::text_of(self.is_request, path);
        let told = of_message.or_else(|| roles::list_of(self.api_key, self.is_request, path));
        told.filter(|to| self.wants_text(*to))
    }

    // Arrays.

    fn array(&mut self, field: &Field, path: &str, scope: Scope<'_>) {
        let length = if field.compact { Length::Compact } else { Length::Int32 };
        self.flush(length.least());
        let column = scope.column(path);
        if let (Kind::Int64, Some(Column::First(to))) = (field.kind, column) {
            self.emit(Op::FirstInt64(length, to));
            return;
        }
        let opens = if scope.looped {
            Opens::Nothing
        } else {
            self.opens(field, path)
        };
        let least = narrow(field.least);
        let place = self.emit(Op::Array {
            length,
            least,
            behind: 0,
            opens,
        });
        let start = self.here();
        let scope = Scope { looped: true, ..scope };
        match field.kind {
            Kind::Struct => self.structure(&field.inside, path, scope),
            Kind::String => {
                let length = if field.compact { Length::Compact } else { Length::Int16 };
                self.emit(match self.element(path) {
                    Some(to) => Op::Text {
                        length,
                        to,
                        first: is_of_message(to),
                        of_rows: false,
                    },
                    None => Op::SkipText(length),
                });
            }
            // No array in the table holds bytes; a reader of another one would step over them.
            Kind::Bytes | Kind::Records => {
                self.emit(Op::SkipBytes(if field.compact {
                    Length::Compact
                } else {
                    Length::Int32
                }));
            }
            kind => {
                let to = self.numbered(path);
                self.run
                    .push((kind.size().unwrap_or_default(), to.and_then(|to| number_op(kind, to))));
            }
        }
        self.flush(0);
        if let Some(least) = self.stepped_over(place) {
            self.program.ops.truncate(place);
            let count = match column {
                Some(Column::Count(to)) => Some(to),
                _ => None,
            };
            self.emit(Op::SkipArray {
                length,
                least,
                structs: field.kind == Kind::Struct,
                count,
            });
            return;
        }
        self.emit(Op::Next { start });
        let behind = self.here();
        self.patch(
            place,
            Op::Array {
                length,
                least,
                behind,
                opens,
            },
        );
    }

    /// The size of an element where the elements of an array are only stepped over.
    fn stepped_over(&self, place: usize) -> Option<u16> {
        match self.program.ops.get(place + 1..) {
            Some(&[Op::Skip(size)]) => u16::try_from(size).ok(),
            _ => None,
        }
    }

    /// The list that begins with an array: its own, or that of an array inside.
    fn opens(&self, field: &Field, path: &str) -> Opens {
        if !self.tells.groups {
            return Opens::Nothing;
        }
        let inside = |inside: &Field| self.list_at(&join(path, inside.name));
        let found = self
            .list_at(path)
            .or_else(|| field.inside.fields.iter().find_map(inside));
        found.unwrap_or(Opens::Nothing)
    }

    fn list_at(&self, path: &str) -> Option<Opens> {
        let text = roles::list_of(self.api_key, self.is_request, path);
        let pairs = roles::pairs_of(self.api_key, self.is_request, path);
        match (text, pairs) {
            (Some(Text::Members), _) => Some(Opens::Members),
            (Some(Text::Subscription), _) => Some(Opens::Subscription),
            (_, Some(To::Owned)) => Some(Opens::Owned),
            (_, Some(To::Assigned)) => Some(Opens::Assignment),
            _ => None,
        }
    }

    /// Where the strings of an array go.
    fn element(&self, path: &str) -> Option<Text> {
        let list = roles::list_of(self.api_key, self.is_request, path).filter(|to| self.wants_text(*to));
        list.or_else(|| roles::is_topic_name(self.api_key, path).then_some(Text::Topics))
    }

    /// Where the numbers of an array go.
    fn numbered(&self, path: &str) -> Option<To> {
        let pairs = roles::pairs_of(self.api_key, self.is_request, path);
        let wanted = pairs.filter(|to| {
            if *to == To::Forgotten {
                self.tells.partitions
            } else {
                self.tells.groups
            }
        });
        wanted.or_else(|| self.row(path).map(|_| To::PartitionRow))
    }

    // Tagged fields.

    fn tags(&mut self, layout: &Layout, path: &str, scope: Scope<'_>) {
        self.flush(1);
        let place = self.emit(Op::Tags { behind: 0 });
        let tag_place = self.emit(Op::End);
        let tag = self.here() - 1;
        let mut ends = vec![self.emit(Op::End)];
        let mut cases = Vec::new();
        for field in &layout.tagged {
            let path = join(path, field.name);
            if let Some(number) = field.tag.filter(|_| self.wants(field, &path, scope)) {
                cases.push((number, self.here()));
                self.field(field, &path, scope, Told::Nothing);
                self.flush(0);
                ends.push(self.emit(Op::End));
            }
        }
        let behind = self.here();
        let first = narrow_place(self.program.cases.len());
        self.patch(place, Op::Tags { behind });
        self.patch(
            tag_place,
            Op::Tag {
                first,
                cases: narrow_place(cases.len()),
            },
        );
        for end in ends {
            self.patch(end, Op::EndTag { tag, behind });
        }
        self.program.cases.extend(cases);
    }

    /// Whether a tagged field, or one inside it, tells something.
    fn wants(&self, field: &Field, path: &str, scope: Scope<'_>) -> bool {
        let number = roles::number_of(self.is_request, path).is_some_and(|to| self.wants_number(to));
        let text = roles::text_of(self.is_request, path).is_some_and(|to| self.wants_text(to));
        let error = !self.is_request && roles::is_error_code(field.name);
        let itself = number || text || error || self.row(path).is_some() || scope.column(path).is_some();
        itself
            || field
                .inside
                .fields
                .iter()
                .any(|inside| self.wants(inside, &join(path, inside.name), scope))
    }

    // Writing.

    /// Writes the fields that wait; `more` bytes behind them are read with them.
    fn flush(&mut self, more: usize) {
        let run = std::mem::take(&mut self.run);
        let size: usize = run.iter().map(|(size, _)| size).sum();
        if run.iter().any(|(_, op)| op.is_some()) && (run.len() > 1 || more > 0) {
            self.emit(Op::Run(narrow(size + more)));
        }
        let mut unwanted = 0;
        for (size, op) in run {
            let Some(op) = op else {
                unwanted += size;
                continue;
            };
            self.skip(unwanted);
            unwanted = 0;
            self.emit(op);
        }
        self.skip(unwanted);
    }

    fn skip(&mut self, size: usize) {
        if size > 0 {
            self.emit(Op::Skip(narrow(size)));
        }
    }

    fn emit(&mut self, op: Op) -> usize {
        self.program.ops.push(op);
        self.program.ops.len() - 1
    }

    fn patch(&mut self, place: usize, op: Op) {
        if let Some(old) = self.program.ops.get_mut(place) {
            *old = op;
        }
    }

    fn here(&self) -> u16 {
        narrow_place(self.program.ops.len())
    }
}

/// Whether a text is said of the whole message, so that of several the first counts.
fn is_of_message(to: Text) -> bool {
    matches!(
        to,
        Text::TransactionalId | Text::Group | Text::MemberId | Text::InstanceId | Text::Reason
    )
}

/// The step for a number of this kind; none for kinds that no role is for.
fn number_op(kind: Kind, to: To) -> Option<Op> {
    match kind {
        Kind::Bool | Kind::Int8 => Some(Op::Int8(to)),
        Kind::Int16 => Some(Op::Int16(to)),
        Kind::Uint16 => Some(Op::Uint16(to)),
        Kind::Int32 => Some(Op::Int32(to)),
        Kind::Int64 => Some(Op::Int64(to)),
        Kind::Float64 | Kind::Uuid | Kind::String | Kind::Bytes | Kind::Records | Kind::Struct => None,
    }
}

fn length_of(field: &Field) -> Length {
    match field.kind {
        _ if field.compact => Length::Compact,
        Kind::String => Length::Int16,
        _ => Length::Int32,
    }
}

/// The path of a field inside a struct.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() || name.is_empty() {
        [path, name].concat()
    } else {
        [path, ".", name].concat()
    }
}

/// Sizes come from the table, where they are small.
fn narrow(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Places come from the table, where programs are short.
fn narrow_place(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}
