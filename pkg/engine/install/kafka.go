package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ApacheKafka says how to run Apache Kafka.
type ApacheKafka struct {
	Java string // the program
	Jars string // the directory of all jars
}

const javaOldest = 17

// mavenPlugin copies the jars of a pom; its version is pinned as theirs are.
const mavenPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

// ApacheKafka returns Java and the jars of Apache Kafka, installed if necessary.
func (i *Installer) ApacheKafka(ctx context.Context) (ApacheKafka, error) {
	java, err := findJava(ctx)
	if err != nil {
		return ApacheKafka{}, err
	}
	pom, err := manifests.ReadFile("kafka/pom.xml")
	if err != nil {
		return ApacheKafka{}, fmt.Errorf("read the manifest of kafka: %w", err)
	}
	dir, err := i.ensure(ctx, bundle{
		name:     "kafka",
		files:    map[string][]byte{"pom.xml": pom},
		size:     150 << 20,
		progress: "downloading Apache Kafka (45 MB; once)",
		fetch:    mavenCopy,
	})
	if err != nil {
		return ApacheKafka{}, err
	}
	return ApacheKafka{Java: java, Jars: filepath.Join(dir, "jars")}, nil
}

func findJava(ctx context.Context) (string, error) {
	const remedy = "install a Java runtime, version 17 or newer (on Debian and Ubuntu: apt install openjdk-17-jre-headless)"
	java, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("java was not found, which Apache Kafka needs: " + remedy)
	}
	output, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("java does not run (%w): %s", err, remedy)
	}
	// The first line is: openjdk version "17.0.15" 2025-04-15
	_, rest, _ := strings.Cut(string(output), "version \"")
	number, _, _ := strings.Cut(rest, ".")
	number, _, _ = strings.Cut(number, "\"")
	if major, err := strconv.Atoi(number); err != nil || major < javaOldest {
		return "", fmt.Errorf("java is version %q, which is too old for Apache Kafka: %s", number, remedy)
	}
	return java, nil
}

func mavenCopy(ctx context.Context, dir string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("mvn was not found, which fetches Apache Kafka: install Maven (on Debian and Ubuntu: apt install maven)")
	}
	cmd := exec.CommandContext(ctx, mvn, "--quiet", "--batch-mode", "--strict-checksums", "--file",
		filepath.Join(dir, "pom.xml"),
		mavenPlugin, "-DoutputDirectory="+filepath.Join(dir, "jars"), "-DincludeScope=runtime")
	cmd.Dir = dir
	cmd.WaitDelay = 2 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("mvn failed (%w):\n%s", err, lastLines(output.String(), 12))
	}
	return nil
}
