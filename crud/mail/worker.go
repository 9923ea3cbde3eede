package mail

import (
	"context"
	"errors"

	"github.com/riverqueue/river"

	"lodestone/crud/queue"
)

// maxAttempts is reached after about a day.
const maxAttempts = 16

// New returns the mails of a process, whose worker it registers in the queue.
func New(q *queue.Queue) (*Queue, error) {
	if err := q.AddQueue(queueName, 4); err != nil {
		return nil, err
	}
	if err := queue.Register(q, &worker{}); err != nil {
		return nil, err
	}
	return &Queue{jobs: q}, nil
}

type worker struct{ river.WorkerDefaults[job] }

// Work implements river.Worker.
func (w *worker) Work(context.Context, *river.Job[job]) error {
	return errors.New("there is no SMTP server")
}
