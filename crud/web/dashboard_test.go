package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"lodestone/pkg/locale"
)

// screens are the directories of the dashboard and of signing in. They have no words of their own.
var screens = []string{"../dashboard", "../dashboard/frame", "../dashboard/link", "../dashboard/setting", "../signin"}

func dashboardFiles(t *testing.T, directories []string, pattern string) (names []string) {
	t.Helper()
	for _, directory := range directories {
		found, err := filepath.Glob(filepath.Join(directory, pattern))
		require.NoError(t, err)
		names = append(names,
			slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, "_test.go") })...)
	}
	require.NotEmpty(t, names)
	return names
}

// Every key that the dashboard names exists, and every text is named. A name that ends with a full
// stop is the beginning of composed keys, and one that begins with a full stop the end of them.
func TestDashboardTextsAreUsedAndThere(t *testing.T) {
	t.Parallel()
	c, err := DashboardTexts()
	require.NoError(t, err)
	texts := c.In(locale.English).texts
	named, begun, ends := map[string]bool{}, []string{}, map[string]bool{}
	end := regexp.MustCompile(`"(\.[a-z_]+)"`)
	name := regexp.MustCompile(
		"[\"`]((?:frame|filter|metric|overview|new|magnet|people|reader|erasure|live|link|recipient|setting|signin)\\.[a-z_.0-9]*)[\"`]")
	for _, file := range append(dashboardFiles(t, screens, "*.go"), dashboardFiles(t, screens, "web/*.html")...) {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range end.FindAllStringSubmatch(string(source), -1) {
			ends[found[1]] = true
		}
		for _, found := range name.FindAllStringSubmatch(string(source), -1) {
			key := found[1]
			switch {
			case slices.Contains([]string{".css", ".html", ".js", ".csv"}, filepath.Ext(key)):
			case strings.HasSuffix(key, "."):
				begun = append(begun, key)
				require.True(t, slices.ContainsFunc(mapKeys(texts), func(k string) bool { return strings.HasPrefix(k, key) }),
					"no text begins with %s, which %s names", key, file)
			default:
				named[key] = true
				require.Contains(t, texts, key, "%s names it", file)
			}
		}
	}
	for key := range texts {
		composed := slices.ContainsFunc(begun, func(beginning string) bool { return strings.HasPrefix(key, beginning) })
		if at := strings.LastIndexByte(key, '.'); named[key[:at]] && ends[key[at:]] {
			composed = true
		}
		require.True(t, named[key] || composed, "nothing uses %s", key)
	}
}

// A language of the dashboard has every text, with the placeholders of the English one.
func TestDashboardTextsAreComplete(t *testing.T) {
	t.Parallel()
	c, err := DashboardTexts()
	require.NoError(t, err)
	require.Contains(t, c.Languages(), locale.English)
	english := c.In(locale.English)
	for _, l := range c.Languages() {
		texts := c.In(l)
		require.Len(t, texts.texts, len(english.texts), l)
		for key, want := range english.texts {
			requireForms(t, texts, key, want)
		}
	}
}

// All words of a template come from the catalogue: there are none in its HTML, in attributes that
// people see, and in values of actions.
func TestDashboardTemplatesHaveNoWords(t *testing.T) {
	t.Parallel()
	for _, file := range dashboardFiles(t, screens, "web/*.html") {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, wordsOf(t, string(source)), file)
	}
	require.Equal(t, []string{"Delete", "Search here", "No one.", "Save it"}, wordsOf(t, `<p title="{{t "magnet.title"}}"><b>Delete</b> {{if .X}}–{{else}}
<input placeholder="Search here" name="q">{{end}}{{with .Y}}<i class="on">{{.}}</i>{{else}}No one.{{end}}{{template "input" (.Text "text" "name" "Save it")}}</p>`))
}

// plain are the functions whose texts no one but a developer reads, or which are the API's.
var plain = []string{"errors.New", "fmt.Errorf", "regexp.MustCompile", "problem.Missing", "config.Invalid"}

// purposes are the purposes of sealed secrets. No one reads them.
var purposes = []string{"openid requests"}

// logged are words that the log alone has.
var logged = []string{
	"the claim email is missing", "the claim email_verified is not true", "the claim email_verified is missing",
	"have the provider send the address in the claim email",
	"verify the address at the provider, or have its mapping of the claim say so",
	"have the provider send the claim, or give --openid-trust-email if no one but its administrators can choose an address there",
	"invite the person to an account",
}

// The words of a screen's Go come from the catalogue too.
func TestDashboardCodeHasNoWords(t *testing.T) {
	t.Parallel()
	tags := regexp.MustCompile(`<[^>]*>?`)
	sentence := regexp.MustCompile(`^\p{Lu}\p{Ll}+([ .,:]|$)|\p{L}{2,} \p{L}{2,}`)
	for _, file := range dashboardFiles(t, screens, "*.go") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				n.Tag = nil
			case *ast.CallExpr:
				called, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if called.Sel.Name == "Warn" { // of a log
					return false
				}
				of, ok := called.X.(*ast.Ident)
				return !ok || !slices.Contains(plain, of.Name+"."+called.Sel.Name)
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if n.Kind == token.STRING && err == nil && !slices.Contains(ownNames, text) &&
					!slices.Contains(slices.Concat(purposes, logged), text) {
					require.False(t, sentence.MatchString(tags.ReplaceAllString(text, "")),
						"%s: %q belongs into the catalogue", file, text)
				}
			}
			return true
		})
	}
}

// ownNames have no translation: what languages call themselves, browsers, systems and typefaces.
var ownNames = []string{
	"English", "Deutsch", "Français", "Español", "Italiano", "Português", "Nederlands", "Polski",
	"Edge", "Opera", "Firefox", "Chrome", "Safari", "Android", "Windows", "Mac OS X", "Linux", "Inter",
	"Lodestone",
}

// wordLike are two letters or more; entities and single signs are none.
var wordLike = regexp.MustCompile(`\p{L}{2,}`)

// wordsOf returns the words of a template that people see.
func wordsOf(t *testing.T, source string) (found []string) {
	t.Helper()
	tree := parse.New("template")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	_, err := tree.Parse(source, "", "", trees)
	require.NoError(t, err)
	var quoted []string
	for _, one := range trees {
		var text strings.Builder
		walk(one.Root, &text, &quoted)
		source := text.String()
		if !strings.Contains(source, "<") &&
			strings.Contains(source, `="`) { // attributes, which stand in a tag of another template
			source = "<i " + source + ">"
		}
		found = append(found, wordsOfHTML(source)...)
	}
	return append(found, quoted...)
}

// formats have the same name in every language.
var formats = []string{"SVG", "PNG", "CSV"}

// visible are the attributes that people read or hear.
var visible = []string{"title", "alt", "placeholder", "aria-label", "aria-description", "content"}

func wordsOfHTML(source string) (found []string) {
	add := func(text string) {
		if text = strings.TrimSpace(text); wordLike.MatchString(text) && !slices.Contains(formats, text) {
			found = append(found, text)
		}
	}
	// What noscript has is text to the tokenizer.
	z := html.NewTokenizer(strings.NewReader(strings.NewReplacer("<noscript>", "", "</noscript>", "").Replace(source)))
	raw := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if raw = ""; token.Data == "script" || token.Data == "style" {
				raw = token.Data
			}
			for _, a := range token.Attr {
				if slices.Contains(visible, a.Key) {
					add(a.Val)
				}
			}
		case html.EndTagToken:
			raw = ""
		case html.TextToken:
			if raw == "" {
				add(z.Token().Data)
				continue
			}
			for _, literal := range literals.FindAllString(string(z.Raw()), -1) {
				if sentenceLike.MatchString(literal) {
					found = append(found, literal)
				}
			}
		}
	}
}

var (
	literals = regexp.MustCompile("'[^'\n]*'|\"[^\"\n]*\"|`[^`]*`")
	// sentenceLike is a value that people would read: a capital letter with small ones, or words with
	// spaces between them.
	sentenceLike = regexp.MustCompile(`^["'\x60]?\p{Lu}\p{Ll}|\p{L}{2,} \p{L}{2,}`)
)

// walk collects the HTML of a template, and what its actions have in quotes and is no name.
func walk(node parse.Node, text *strings.Builder, quoted *[]string) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, one := range n.Nodes {
			walk(one, text, quoted)
		}
	case *parse.TextNode:
		text.Write(n.Text)
	case *parse.ActionNode:
		walk(n.Pipe, text, quoted)
	case *parse.TemplateNode:
		walk(n.Pipe, text, quoted)
	case *parse.IfNode:
		walkBranch(&n.BranchNode, text, quoted)
	case *parse.RangeNode:
		walkBranch(&n.BranchNode, text, quoted)
	case *parse.WithNode:
		walkBranch(&n.BranchNode, text, quoted)
	case *parse.PipeNode:
		if n == nil {
			return
		}
		for _, command := range n.Cmds {
			for _, argument := range command.Args {
				walk(argument, text, quoted)
			}
		}
	case *parse.StringNode:
		if sentenceLike.MatchString(n.Text) {
			*quoted = append(*quoted, n.Text)
		}
	}
}

func walkBranch(n *parse.BranchNode, text *strings.Builder, quoted *[]string) {
	walk(n.Pipe, text, quoted)
	walk(n.List, text, quoted)
	walk(n.ElseList, text, quoted)
}

func TestTextsOfPages(t *testing.T) {
	t.Parallel()
	texts := &Texts{Language: locale.English, texts: map[string]text{
		"offers": {"other": "It <offers> {document} to {n} people"},
		"read":   {"one": "{readers} reader", "other": "{readers} readers {period}"},
	}, printer: catalogueOf(t).In(locale.English).printer}
	for url, want := range map[string]string{
		"/a?b=1&c=2": "/a?b=1&amp;c=2", "https://example.com": "https://example.com", "javascript:alert(1)": "#",
		"JavaScript:alert(1)": "#", "?q=a:b": "?q=a:b",
		`/"onclick=`: "/&#34;onclick=",
	} {
		require.Equal(t, `It &lt;offers&gt; <a href="`+want+`">&lt;i&gt;</a> to 1,200 people`,
			string(texts.HTML("offers", "document", Link{url, "<i>"}, "n", 1200)))
	}
	require.Equal(t, "It <offers> Guide to 2 people", texts.Say("offers", "document", Link{"/", "Guide"}, "n", 2))
	number := new(int)
	require.Equal(t, []Part{{Value: number}, {Text: " readers "}, {Text: "today"}},
		texts.Parts("read", "n", 5, "readers", number, "period", "today"))
	require.Equal(t, []Part{{Value: number}, {Text: " reader"}},
		texts.Parts("read", "n", 1, "readers", number, "period", "today"))
}
