"""What a machine can be told to do: four numbers each, the operation and three operands (a, b, c).

Fields of fixed size that stand beside each other are one run: NEED gathers it, READ and STEP take it apart.
"""

SIZE = 4

(
    END,  # the body is read
    BODY,  # the header ends here; a: the program for what is too large to keep, below 0 without; b: has records
    STRANGE,  # nothing is known of what follows
    NEED,  # a bytes together
    STEP,  # over a bytes of a run
    SKIP,  # a bytes, wherever they are
    READ,  # a number of kind a, and do b with it, c being what b needs
    DO,  # b, with the number read last
    JUMP_BELOW,  # to a if the number is below 0
    VARINT,  # the rest of the length that was read; a: how much to take off
    TEXT,  # of the length that was read; a: 1 compact, 2 it is the group, too; do b with it, c being what b needs
    OVER,  # as many bytes as the length says; a: it was compact
    ARRAY,  # of so many elements as the length says, each of b bytes at least; c: where it ends; a: 1 compact, 2 flat
    AGAIN,  # the next element, at a
    NUMBERS,  # as many int32 as the length says; do b with each
    MANY,  # over as many times a bytes as the length says, without b
    RECORDS,  # of the length that was read; a: it was compact; b: another partition takes as much; c: has a row
    ENTRIES,  # the batches of it
    TAGS,  # so many tagged fields as the length says; c: where they end
    TAG,  # its number and its size
    IF_TAG,  # go on at b if the number is a
    OVER_TAG,  # to its end
    END_TAG,  # it has to end here
    OPEN,  # a row of arena a
    CLOSE,  # the row
    JUMP,  # to a
) = range(26)

# Kinds of numbers.
BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, OTHER8, UUID = range(10)
KIND_SIZES = (1, 1, 1, 2, 2, 4, 4, 8, 8, 16)

# What to do with a number or a text.
(
    NOTHING,
    LENGTH,  # it is one
    SCALAR,  # of the facts: c is word * 32 + bit
    FIRST,  # the same, unless there is one
    ERROR,  # unless there is one that is not 0
    WORD,  # of the row: c is word * 32 + bit
    LONG,  # the same, of 8 bytes
    INDEX,  # the partition of what follows, and of the row
    TOPIC,  # of what follows
    GROUP,  # of what follows
    ROW,  # a row of its own, for this partition
    FORGOTTEN,  # a row of its own
    ENDPOINT,  # word c of the row
    PORT,  # the same, and the row counts
    CLIENT,  # the header's client_id
    THROUGH,  # nothing, but it has to be there
) = range(16)
