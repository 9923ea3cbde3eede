module lodestone

go 1.26.0

// Later releases take package testing into the program.
replace github.com/hashicorp/golang-lru => github.com/hashicorp/golang-lru v0.5.4

require (
	code.dny.dev/ssrf v0.3.0 // refuses connections of webhooks and logos to private addresses
	github.com/ClickHouse/ch-go v0.75.0 // writes blocks of columns to ClickHouse on the hot path
	github.com/ClickHouse/clickhouse-go/v2 v2.51.0 // queries and migrations of ClickHouse
	github.com/IBM/pgxpoolprometheus v1.1.3 // metrics of connections to Postgres
	github.com/alecthomas/kong v1.17.0 // command line and environment variables
	github.com/boombuler/barcode v1.1.0 // encodes QR codes
	github.com/coreos/go-oidc/v3 v3.21.0 // signs people in by OpenID Connect
	github.com/ebitengine/purego v0.11.3 // loads the ClickHouse library into its launcher without cgo
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // tests: logs in to the SMTP server of tests
	github.com/emersion/go-smtp v0.25.1 // tests: an SMTP server that mails are sent to
	github.com/go-jose/go-jose/v4 v4.1.9 // receipts of erasures
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // reads untrusted JSON strictly, with the place of each error
	github.com/go-webauthn/webauthn v0.18.2 // signs people in by passkeys
	github.com/gofrs/flock v0.13.1 // one process for a data directory or a spool
	github.com/google/uuid v1.6.0 // ids of everything
	github.com/hashicorp/golang-lru v1.0.2 // remembers a bounded number of user agents; uap-go brings it
	github.com/jackc/pgx/v5 v5.13.0 // Postgres
	github.com/klippa-app/go-pdfium v1.19.8 // PDFium compiled to WebAssembly reads PDFs: decision 004
	github.com/makiuchi-d/gozxing v0.1.1 // tests: reads QR codes as phones do
	github.com/maxmind/mmdbwriter v1.2.0 // tests: writes files of countries
	github.com/minio/minio-go/v7 v7.4.1 // puts the daily export into a bucket
	github.com/modelcontextprotocol/go-sdk v1.8.0 // lodestone mcp: the Model Context Protocol
	github.com/oschwald/maxminddb-golang/v2 v2.9.0 // reads files that map addresses to countries
	github.com/parquet-go/parquet-go v0.32.0 // writes submissions as Parquet; ClickHouse writes events
	github.com/pressly/goose/v3 v3.29.0 // migrations
	github.com/prometheus/client_golang v1.25.0 // metrics
	github.com/prometheus/client_model v0.6.3 // metrics, as tests read them
	github.com/riverqueue/river v0.51.1 // jobs in Postgres, in the transaction that causes them
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.51.1 // River on pgx
	github.com/riverqueue/river/rivertype v0.51.1 // the types of River's jobs
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1 // tests: checks signatures as a receiver does
	github.com/stretchr/testify v1.12.1 // tests: assertions
	github.com/tetratelabs/wazero v1.12.0 // runs PDFium without cgo, with bounded memory
	github.com/twmb/franz-go v1.22.3 // Kafka
	github.com/twmb/franz-go/pkg/kadm v1.20.0 // topics, offsets and groups of Kafka
	github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c // the embedded Kafka of lodestone up
	github.com/twmb/franz-go/pkg/kmsg v1.15.1 // requests of Kafka that kadm does not have
	github.com/ua-parser/uap-go v0.0.0-20260529044130-17c35e68e58c // the list of browsers and operating systems by user agent
	github.com/valyala/fasthttp v1.78.0 // the collector's HTTP server
	github.com/vgarvardt/pgx-google-uuid/v5 v5.6.0 // writes ids of google/uuid to Postgres
	github.com/wneessen/go-mail v0.8.1 // writes and sends mail
	go.opentelemetry.io/otel v1.47.0 // traces
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp v1.47.0 // sends traces
	go.opentelemetry.io/otel/sdk v1.47.0 // makes traces
	go.opentelemetry.io/otel/trace v1.47.0 // traces, as libraries see them
	go.opentelemetry.io/proto/otlp v1.11.0 // tests: what a receiver of traces gets
	go.uber.org/goleak v1.3.0 // tests: no goroutine is left
	go4.org/netipx v0.0.0-20231129151722-fdeea329fbba // sets of networks
	golang.org/x/net v0.62.0 // internationalised host names
	golang.org/x/oauth2 v0.38.0 // trades the codes of OpenID Connect, with PKCE
	golang.org/x/sync v0.25.0 // errgroup, semaphore
	golang.org/x/term v0.48.0 // knows whether lodestone sql prints to a terminal
	google.golang.org/protobuf v1.36.12 // protowire: the format of records
	gopkg.in/yaml.v3 v3.0.1 // indirect
	lukechampine.com/blake3 v1.4.1 // hashes addresses, derives keys
	mvdan.cc/sh/v3 v3.13.1 // tests: reads the commands in the documentation
	pgregory.net/rapid v1.3.0 // tests: properties and models
)

require (
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.4 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/x v0.3.1 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.30.0 // indirect
	github.com/jolestar/go-commons-pool/v2 v2.1.2 // indirect
	github.com/klauspost/crc32 v1.3.0 // indirect
	github.com/minio/crc64nvme v1.1.1 // indirect
	github.com/minio/md5-simd v1.1.2 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/riverqueue/river/riverdriver v0.51.1 // indirect
	github.com/riverqueue/river/rivershared v0.51.1 // indirect
	github.com/rs/xid v1.6.0 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/xyproto/randomstring v1.2.0 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.47.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/xerrors v0.0.0-20200804184101-5ec99f83aff1 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20261005182115-fad411399dd8 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261005182115-fad411399dd8 // indirect
	google.golang.org/grpc v1.84.0 // indirect
	gopkg.in/ini.v1 v1.67.3 // indirect
)

require (
	github.com/andybalholm/brotli v1.2.7 // brotli of pages
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // the delays of every retry
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/creack/pty v1.1.24 // the terminal that the embedded ClickHouse serves in
	github.com/dmarkham/enumer v1.6.3 // indirect
	github.com/go-faster/city v1.0.1 // indirect
	github.com/go-faster/errors v0.8.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/hashicorp/go-version v1.9.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // names the error of a closed pool of pgx
	github.com/klauspost/compress v1.20.3 // gzip of bodies and answers at the speed of the collector
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/mfridman/interpolate v0.0.2 // indirect
	github.com/molecule-man/go-brrr v1.3.1 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/pascaldekloe/name v1.0.1 // indirect
	github.com/paulmach/orb v0.14.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/sethvargo/go-retry v0.5.0 // indirect
	github.com/shopspring/decimal v1.6.0 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // reads the list of uap-go, which brings it
	golang.org/x/crypto v0.59.0 // argon2id: passwords of shared statistics
	golang.org/x/image v0.48.0 // scales pictures and reads WebP
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sys v0.50.0 // features of the processor, free disk, terminals
	golang.org/x/text v0.44.0 // normal form of the letters of a slug; languages, plural forms and numbers of pages
	golang.org/x/tools v0.52.0 // indirect
)
