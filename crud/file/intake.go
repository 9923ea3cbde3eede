package file

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"lodestone/pkg/limit"
	"lodestone/pkg/problem"
)

// How many files are received and read at a time. What an account may have keeps its share of the
// waiting for the readers of files bounded as well, since a file is held until it has been read and
// stored.
const (
	maxUploads        = 64
	maxAccountUploads = 8
	// The disk space is for so many of the largest files.
	largestUploads        = 4
	largestAccountUploads = 2
)

// Intake bounds the files that are received at a time, by account and in all: their number, and the
// space that they take in the directory for temporary files. It is safe for concurrent use.
type Intake struct {
	files, bytes *limit.Slots[uuid.UUID]
}

// NewIntake returns an intake for files of at most largest bytes. It takes four times that of disk
// space.
func NewIntake(largest int64) *Intake {
	return &Intake{
		files: limit.NewSlots[uuid.UUID](maxUploads, maxAccountUploads),
		bytes: limit.NewSlots[uuid.UUID](largestUploads*largest, largestAccountUploads*largest),
	}
}

// reserve takes a place, and space for so many bytes, for a file of an account. The error is a
// problem.
func (i *Intake) reserve(account uuid.UUID, bytes int64) (release func(), err error) {
	file, err := i.files.Take(account, 1)
	if err != nil {
		return nil, intakeProblem(err)
	}
	space, err := i.bytes.Take(account, bytes)
	if err != nil {
		file()
		return nil, intakeProblem(err)
	}
	return func() { space(); file() }, nil
}

func intakeProblem(err error) error {
	if errors.Is(err, limit.ErrOwner) {
		return problem.New(problem.RateLimited,
			fmt.Sprintf("The account has reached its limit of uploads at a time: %d files, and the space of %d of the largest. "+
				"Send this file when another upload has been answered.", maxAccountUploads,
				largestAccountUploads)).RetryAfter(retryAfter)
	}
	return problem.New(problem.Unavailable,
		"The maximum number of uploads is running. Send this file again later.").Because(err).RetryAfter(retryAfter)
}
