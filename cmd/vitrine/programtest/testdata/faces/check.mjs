// Reads the faces of a list with parsers of others and compares what they find with
// expected.json: [{key, title, authors: [{Given, Family, Suffix, Literal}], year}].
// Usage: node check.mjs FOLDER
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@retorquere/bibtex-parser'
import { Cite } from '@citation-js/core'
import '@citation-js/plugin-bibtex'
import '@citation-js/plugin-csl'
import '@citation-js/plugin-ris'
import Ajv from 'ajv'
import jsonld from 'jsonld'

const folder = process.argv[2]
const read = name => readFileSync(join(folder, name), 'utf8')
const expected = JSON.parse(read('expected.json'))
let failures = 0
const fail = (...words) => { if (++failures <= 20) console.error(...words) }

// Parsers write sub- and superscripts, spaces and markup each in its way. citation-js
// leaves relations of mathematics as commands and takes a minus for a hyphen.
const relations = { '\\leq': '≤', '\\geq': '≥', '\\neq': '≠', '\\approx': '≈', '\\infty': '∞' }
const plain = s => String(s ?? '')
  .replace(/\\(leq|geq|neq|approx|infty)/g, command => relations[command])
  .replace(/<\/?(i|b|sub|sup|span|em|strong)( [^<>]*)?>/g, '')
  .normalize('NFKC').replace(/−/g, '-').replace(/\s+/g, ' ').trim()
const name = (...parts) => plain(parts.filter(Boolean).join(' '))
const names = persons => persons.map(p => name(p.Family ? p.Family : p.Literal, p.Suffix) + '|' + name(p.Given))

// same compares the items that a parser found with those expected, in their order.
function same(face, items) {
  if (items.length !== expected.length) fail(`${face}: ${items.length} items, want ${expected.length}`)
  expected.forEach((want, i) => {
    const got = items[i] ?? {}
    const pairs = { title: [plain(got.title), plain(want.title)], year: [+(got.year ?? 0), want.year] }
    pairs.authors = [got.authors.join('; '), (face.startsWith('list.ris') ? risNames : names)(want.authors).join('; ')]
    if (got.key !== undefined) pairs.key = [got.key, want.key]
    for (const [what, [is, should]] of Object.entries(pairs)) {
      if (is !== should) fail(`${face}: ${want.key}: ${what}\n   got ${JSON.stringify(is)}\n  want ${JSON.stringify(should)}`)
    }
  })
  console.log(`${face}: ${items.length} items`)
}

// RIS has no form for an organisation: a comma in its name is read as the one after a family name.
const risNames = persons => persons.map(p => {
  if (p.Family) return names([p])[0].replace(/,/g, '')
  const [first, ...rest] = name(p.Literal).split(', ')
  return first + '|' + rest.join(', ')
})

// csl is an item of CSL-JSON in the form of same.
const csl = e => ({
  key: e['citation-key'] ?? e.id,
  title: e.title,
  year: e.issued?.['date-parts']?.[0]?.[0],
  authors: (e.author ?? []).map(p => p.literal !== undefined ? name(p.literal) + '|'
    : name(p['dropping-particle'], p['non-dropping-particle'], p.family, p.suffix) + '|' + name(p.given)),
})

for (const face of ['list.bib', 'list.latex.bib']) {
  const { entries, errors } = parse(read(face), { sentenceCase: false })
  for (const e of errors) fail(`${face}: ${JSON.stringify(e).slice(0, 300)}`)
  same(face + ' (bibtex-parser)', entries.map(e => ({
    key: e.key, title: e.fields.title, year: e.fields.year,
    authors: (e.fields.author ?? []).map(p => name(p.prefix, p.name ?? p.lastName, p.suffix) + '|' + name(p.firstName)),
  })))
  same(face + ' (citation-js)', new Cite(read(face), { generateGraph: false }).data.map(csl))
}
same('list.ris (citation-js)', new Cite(read('list.ris'), { generateGraph: false }).data.map(csl))

const items = JSON.parse(read('list.csl.json'))
const valid = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(readFileSync(new URL('csl.schema.json', import.meta.url))))
if (!valid(items)) fail('list.csl.json:', JSON.stringify(valid.errors.slice(0, 5)))
same('list.csl.json', items.map(csl))
const cited = new Cite(items, { generateGraph: false }).format('bibliography', { format: 'text', template: 'apa' })
if (cited.trim() === '' && items.length > 0) fail('list.csl.json: citeproc wrote nothing')

// schema.org's own context is not asked for: its words stand for themselves.
const context = { '@context': { '@vocab': 'https://schema.org/' } }
const documentLoader = async url => {
  if (!/^https?:\/\/schema\.org\/?$/.test(url)) throw new Error(`context ${url}`)
  return { document: context, documentUrl: url }
}
const value = (node, property) => node[`https://schema.org/${property}`]?.[0]?.['@value']
const nodes = (node, property) => node[`https://schema.org/${property}`] ?? []
const expanded = await jsonld.expand(JSON.parse(read('list.jsonld')), { documentLoader })
const works = nodes(expanded[0] ?? {}, 'itemListElement').length
  ? nodes(expanded[0], 'itemListElement').map(entry => nodes(entry, 'item')[0]) : expanded
same('list.jsonld', works.map(node => ({
  title: value(node, 'name'),
  year: (value(node, 'datePublished') ?? value(node, 'startDate') ?? value(node, 'foundingDate') ?? '').slice(0, 4),
  authors: ['author', 'performer', 'member'].flatMap(property => nodes(node, property))
    .map(p => name(value(p, 'familyName') ?? value(p, 'name'), value(p, 'honorificSuffix')) +
      '|' + name(value(p, 'givenName'))),
})))
if (failures > 0) {
  console.error(`${failures} failures`)
  process.exit(1)
}
