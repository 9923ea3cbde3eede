// Command lodestone-site builds the site of the documentation from docs/README.md and the pages that it lists, by Hugo.
//
// It is a module of its own, so that the product does not depend on Hugo. Hugo is a tool of this module (`go tool hugo`), built once and
// kept by the compiler's cache.
//
// Before Hugo, the program reads the navigation out of docs/README.md, and stages the pages with their titles and addresses. Hugo makes
// HTML of them by the templates in theme. Then the program writes the index of the search, and checks every link and anchor of the site.
package main
