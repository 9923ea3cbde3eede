// The site of the documentation: the README, docs and what they link to, as Markdown that any code host shows as well.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

// The table of docs/README.md is the navigation: a row with a word in bold begins a section, the others have a link.
function sidebar() {
  const sections = []
  for (const line of readFileSync(join(root, 'docs/README.md'), 'utf8').split('\n')) {
    const section = line.match(/^\| \*\*(.+)\*\* \|/)
    const page = line.match(/\| \[(.+)\]\((.+)\) \|$/)
    if (section) sections.push({ text: section[1], items: [] })
    else if (page) sections.at(-1).items.push({ text: page[1], link: '/' + join('docs', page[2]).replace('README.md', '') })
  }
  return sections
}

// Vue leaves code as it is, and takes a picture without a dot for a package.
function verbatim(md) {
  const render = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (tokens, i, ...more) => {
    tokens[i].attrSet('v-pre', '')
    return render(tokens, i, ...more)
  }
  for (const rule of ['html_block', 'html_inline']) {
    md.renderer.rules[rule] = (tokens, i) => tokens[i].content.replace(/\b(src|srcset)="(?=\w[^:"]*")/g, '$1="./')
  }
}

// The site has no sources: links to them become text.
const source = /^(\.\.\/)*(cmd|crud|deploy|ingest|pkg|query)\//
const isPublished = (href) => /^(https?:|#)|\.(md|html)(#.*)?$|openapi\.json$/.test(href) && !source.test(href)
function withoutSources(md) {
  for (const rule of ['link_open', 'link_close']) {
    const render = md.renderer.rules[rule] ?? ((tokens, i, options, _, self) => self.renderToken(tokens, i, options))
    md.renderer.rules[rule] = (tokens, i, options, env, self) => {
      const opening = rule === 'link_open' ? tokens[i] : tokens.slice(0, i).findLast((t) => t.type === 'link_open')
      const href = opening.meta?.href ?? opening.attrGet('href')
      opening.meta = { ...opening.meta, href }
      return isPublished(href) ? render(tokens, i, options, env, self) : ''
    }
  }
}

// The anchors of headings, as code hosts make them.
const slugify = (text) => text.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')

export default {
  title: 'Lodestone',
  description: 'See who reads your documents, page by page, while they read.',
  lang: 'en',
  outDir: process.env.SITE_DIR,
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md', 'docs/:folder/README.md': 'docs/:folder/index.md' },
  markdown: {
    anchor: { slugify },
    config(md) {
      verbatim(md)
      withoutSources(md)
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
    nav: process.env.SITE_VERSION ? [{ text: process.env.SITE_VERSION, link: '/CHANGELOG' }] : [],
  },
  buildEnd({ outDir }) {
    mkdirSync(join(outDir, 'docs/endpoints'), { recursive: true })
    copyFileSync(join(root, 'docs/endpoints/openapi.json'), join(outDir, 'docs/endpoints/openapi.json'))
  },
}
