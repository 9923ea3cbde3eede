package clickhouse

import "strings"

// passing lists ClickHouse's error codes for temporary conditions: limits, overload, a shutdown, a
// full disk. The same statement may succeed later without any change to the statement or a table.
// The numbers are those of ClickHouse's src/Common/ErrorCodes.cpp.
var passing = map[int32]bool{
	32:  true, // ATTEMPT_TO_READ_AFTER_EOF: a shard ended meanwhile
	74:  true, // CANNOT_READ_FROM_FILE_DESCRIPTOR
	75:  true, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
	76:  true, // CANNOT_OPEN_FILE
	159: true, // TIMEOUT_EXCEEDED
	164: true, // READONLY
	173: true, // CANNOT_ALLOCATE_MEMORY
	202: true, // TOO_MANY_SIMULTANEOUS_QUERIES
	203: true, // NO_FREE_CONNECTION
	209: true, // SOCKET_TIMEOUT
	210: true, // NETWORK_ERROR
	225: true, // NO_ZOOKEEPER
	236: true, // ABORTED
	241: true, // MEMORY_LIMIT_EXCEEDED
	242: true, // TABLE_IS_READ_ONLY
	243: true, // NOT_ENOUGH_SPACE
	252: true, // TOO_MANY_PARTS
	279: true, // ALL_CONNECTION_TRIES_FAILED: a shard does not answer
	319: true, // UNKNOWN_STATUS_OF_INSERT
	373: true, // SESSION_IS_LOCKED
	394: true, // QUERY_WAS_CANCELLED
	395: true, // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: our fence, the insert came too late
	425: true, // SYSTEM_ERROR
	999: true, // KEEPER_EXCEPTION
}

// IsRefusal reports whether ClickHouse answered with an error that a retry will not change: the
// statement, the data, the schema or the rights are wrong.
func IsRefusal(err error) bool {
	code, yes := IsException(err)
	return yes && !passing[code]
}

// IsFenced reports whether a condition in the statement refused it, such as that it came too late.
// It has changed nothing.
func IsFenced(err error) bool {
	const throwIf = 395
	code, yes := IsException(err)
	return yes && code == throwIf
}

// IsOutOfMemory reports whether a statement took more memory than a statement may, rather than the
// server having too little for all of them.
func IsOutOfMemory(err error) bool {
	const memoryLimitExceeded = 241
	code, yes := IsException(err)
	return yes && code == memoryLimitExceeded && !strings.Contains(err.Error(), "(total)")
}

// IsForbidden reports whether ClickHouse refused a statement that carries no data: the login, the
// rights, the schema or a setting is wrong, or the user or the table is read-only.
func IsForbidden(err error) bool {
	const readOnly, tableIsReadOnly = 164, 242
	code, yes := IsException(err)
	return yes && (!passing[code] || code == readOnly || code == tableIsReadOnly)
}
