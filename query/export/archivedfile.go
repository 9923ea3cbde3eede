package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
)

// writeDay writes the file of a day that is complete.
func (a *Archive) writeDay(ctx context.Context, account uuid.UUID, d, settled time.Time) (ArchivedFile, error) {
	file := ArchivedFile{Path: filePath(account, d), Day: d.Format(time.DateOnly), AsOf: settled}
	temp, err := a.temp(func(f *os.File) error {
		stream, err := a.exports.Stored(ctx, account, d, d.Add(day))
		if err != nil {
			return err
		}
		hash := sha256.New()
		file.Bytes, err = stream.WriteTo(io.MultiWriter(f, hash))
		if err := errors.Join(err, stream.Close()); err != nil {
			return err
		}
		file.SHA256 = hex.EncodeToString(hash.Sum(nil))
		written, err := parquet.OpenFile(f, file.Bytes, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return fmt.Errorf("check the file: %w", err)
		}
		file.Rows = written.NumRows()
		return nil
	})
	if err != nil {
		return file, err
	}
	if err := a.target.Put(ctx, file.Path, temp); err != nil {
		return file, err
	}
	a.metrics.files.Inc()
	a.metrics.bytes.Add(float64(file.Bytes))
	a.log.Info("exported a day", "account_id", account, "day", file.Day, "rows", file.Rows, "bytes", file.Bytes)
	return file, nil
}
