package composecheck

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// engine answers Docker's API as far as `docker compose up` asks it. It runs nothing: a container
// that is started is healthy, or has ended with 0 if it is the migration. It refuses what Docker's
// daemon refuses when it creates a container.
type engine struct {
	*httptest.Server
	cpus   int
	mu     sync.Mutex
	made   map[string]*container // by id, which is the name
	order  []string              // names, as they were started
	things map[string]object     // networks and volumes
}

type object = map[string]any

// container is the engine's record of a container. HostConfig is a part of what Compose asked for.
type container struct {
	Config  object
	Host    hostConfig
	Started bool
}

type hostConfig struct {
	NanoCpus       int64
	CpuShares      int64 //nolint:revive,staticcheck // the API's name
	Memory         int64
	ReadonlyRootfs bool
	Binds          []string
	Mounts         []mount
	PortBindings   map[string][]struct{ HostIp, HostPort string } //nolint:revive,staticcheck // the API's names
}

type mount struct{ Type, Source, Target string }

func newEngine(t *testing.T, cpus int) *engine {
	t.Helper()
	e := &engine{cpus: cpus, made: map[string]*container{}, things: map[string]object{}}
	e.Server = httptest.NewServer(http.HandlerFunc(e.answer))
	t.Cleanup(e.Close)
	return e
}

var version = regexp.MustCompile(`^/v[0-9.]+`)

func (e *engine) answer(w http.ResponseWriter, r *http.Request) {
	route := version.ReplaceAllString(r.URL.Path, "")
	parts := strings.Split(strings.Trim(route, "/"), "/")
	w.Header().Set("Api-Version", "1.51")
	switch {
	case route == "/_ping":
		fmt.Fprint(w, "OK")
	case route == "/version":
		reply(w, 200, object{"Version": "29.0.0", "ApiVersion": "1.51", "MinAPIVersion": "1.24",
			"Os": "linux", "Arch": "amd64"})
	case route == "/info":
		reply(w, 200, object{"NCPU": e.cpus, "OSType": "linux", "Architecture": "x86_64", "ServerVersion": "29.0.0"})
	case route == "/events":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case parts[0] == "images" && path.Base(route) == "json":
		reply(w, 200, object{"Id": "sha256:" + strings.Repeat("0", 64), "Config": object{},
			"Os": "linux", "Architecture": "amd64"})
	case parts[0] == "images":
		reply(w, 200, []object{})
	case parts[0] == "networks" || parts[0] == "volumes":
		e.thing(w, r, parts)
	case route == "/containers/json":
		e.list(w)
	case route == "/containers/create":
		e.create(w, r)
	case parts[0] == "containers":
		e.container(w, parts[1], path.Base(route))
	default:
		refuse(w, 501, "this engine does not know "+r.Method+" "+route)
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // a client that left needs no answer
}

func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, object{"message": message})
}

// thing makes and shows networks and volumes.
func (e *engine) thing(w http.ResponseWriter, r *http.Request, parts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kind := parts[0]
	switch {
	case r.Method == http.MethodPost && path.Base(r.URL.Path) == "create":
		var asked object
		_ = json.NewDecoder(r.Body).Decode(&asked)
		name := fmt.Sprint(asked["Name"])
		asked["Id"], asked["Driver"], asked["Scope"] = name, "bridge", "local"
		e.things[kind+"/"+name] = asked
		reply(w, 201, asked)
	case r.Method == http.MethodPost: // connect
		reply(w, 200, object{})
	case len(parts) == 1:
		all := []object{}
		for name, thing := range e.things {
			if strings.HasPrefix(name, kind+"/") {
				all = append(all, thing)
			}
		}
		if kind == "volumes" {
			reply(w, 200, object{"Volumes": all})
			return
		}
		reply(w, 200, all)
	default:
		thing, known := e.things[kind+"/"+parts[1]]
		if !known {
			refuse(w, 404, kind+" not found: "+parts[1])
			return
		}
		reply(w, 200, thing)
	}
}

// create refuses what Docker's daemon refuses (daemon/daemon_unix.go,
// verifyPlatformContainerResources; volume/mounts, validateMountConfig).
func (e *engine) create(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var asked object
	text, _ := json.Marshal(decode(r, &asked)["HostConfig"]) //nolint:errchkjson // it was JSON before
	c := &container{Config: asked}
	if err := json.Unmarshal(text, &c.Host); err != nil {
		refuse(w, 400, err.Error())
		return
	}
	if limit := int64(e.cpus) * 1e9; c.Host.NanoCpus < 0 || c.Host.NanoCpus > limit {
		refuse(w, 400, fmt.Sprintf("range of CPUs is from 0.01 to %d.00, as there are only %d CPUs available", e.cpus,
			e.cpus))
		return
	}
	if c.Host.Memory != 0 && c.Host.Memory < 6<<20 {
		refuse(w, 400, "Minimum memory limit allowed is 6MB")
		return
	}
	for _, m := range c.Host.Mounts {
		if m.Type == "bind" {
			if _, err := os.Stat(m.Source); err != nil {
				refuse(w, 400, "invalid mount config for type \"bind\": bind source path does not exist: "+m.Source)
				return
			}
		}
	}
	name := r.URL.Query().Get("name")
	e.made[name] = c
	reply(w, 201, object{"Id": name, "Warnings": []string{}})
}

func decode(r *http.Request, into *object) object {
	_ = json.NewDecoder(r.Body).Decode(into)
	return *into
}

func (e *engine) list(w http.ResponseWriter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := []object{}
	for id, c := range e.made {
		state, _ := e.state(id, c)
		all = append(all, object{"Id": id, "Names": []string{"/" + id}, "Labels": c.Config["Labels"], "State": state,
			"Image": c.Config["Image"]})
	}
	reply(w, 200, all)
}

// state returns what a container does, and how healthy it is.
func (e *engine) state(id string, c *container) (state, health string) {
	switch {
	case !c.Started:
		return "created", "none"
	case strings.Contains(id, "migrate"):
		return "exited", "none"
	default:
		return "running", "healthy"
	}
}

// container starts one, shows one, or takes a file into one.
func (e *engine) container(w http.ResponseWriter, id, action string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, known := e.made[id]
	switch {
	case !known:
		refuse(w, 404, "No such container: "+id)
	case action == "archive" && c.Host.ReadonlyRootfs:
		refuse(w, 403, "container rootfs is marked read-only")
	case action == "start":
		c.Started = true
		e.order = append(e.order, id)
		w.WriteHeader(http.StatusNoContent)
	case action == "json":
		state, health := e.state(id, c)
		reply(w, 200, object{
			"Id": id, "Name": "/" + id, "Image": "sha256:" + strings.Repeat("0", 64), "Created": "2026-01-01T00:00:00Z",
			"Config": c.Config, "HostConfig": c.Config["HostConfig"], "Mounts": []object{},
			"NetworkSettings": object{"Networks": object{}},
			"State": object{"Status": state, "Running": state == "running", "ExitCode": 0, "Health": object{"Status": health},
				"StartedAt": "2026-01-01T00:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z"},
		})
	default:
		reply(w, 200, object{})
	}
}
