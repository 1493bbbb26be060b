// Reads the feeds and the table of a list with parsers of others and compares what they
// find with list.json, the same list for programs, and list.csl.json, which has all of it.
// Usage: node feeds.mjs FOLDER
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseFeed } from '@rowanmanning/feed-parser'
import { parse } from 'csv-parse/sync'

const read = name => readFileSync(join(process.argv[2], name), 'utf8')
const list = JSON.parse(read('list.json'))
let failures = 0
const fail = (...words) => { if (++failures <= 20) console.error(...words) }

// same compares texts, which parsers trim.
const plain = s => String(s ?? '').replace(/\s+/g, ' ').trim()
function same(face, what, found, expected) {
  if (found.length !== expected.length) fail(`${face}: ${found.length} times ${what}, want ${expected.length}`)
  expected.forEach((want, i) => {
    if (plain(found[i]) !== plain(want)) fail(`${face}: ${what} ${i}\n   got ${found[i]}\n  want ${want}`)
  })
  console.log(`${face}: ${found.length} times ${what}`)
}

// unique fails if a value is missing or comes twice.
function unique(face, what, values) {
  if (values.some(value => !value) || new Set(values).size !== values.length) fail(`${face}: ${what} is missing or not unique`)
}

const page = new URL(list.links.page, process.argv[3]).href.split('?')[0] // list.json has a limit, and paths
const titles = list.items.map(item => item.title)
for (const face of ['list.atom', 'list.rss']) {
  const feed = parseFeed(read(face))
  same(face, 'title', [feed.title, ...feed.items.map(item => item.title)], [list.title, ...titles])
  unique(face, 'id', feed.items.map(item => item.id))
  if (feed.url !== page) fail(`${face}: leads to ${feed.url}, want ${page}`)
  if (face === 'list.atom' && feed.self !== page + '.atom') fail(`${face}: is at ${feed.self}`)
  for (const item of feed.items) {
    if (!item.url || !item.content || isNaN(item.updated ?? item.published)) fail(`${face}: ${item.title} has no address, content or time`)
  }
  if (isNaN(feed.updated)) fail(`${face}: no time`)
}

// What https://www.jsonfeed.org/version/1.1/ requires.
const feed = JSON.parse(read('list.feed.json'))
if (feed.version !== 'https://jsonfeed.org/version/1.1') fail('list.feed.json: version', feed.version)
same('list.feed.json', 'title', [feed.title, ...feed.items.map(item => item.title)], [list.title, ...titles])
unique('list.feed.json', 'id', feed.items.map(item => item.id))
for (const item of feed.items) {
  if (typeof item.id !== 'string' || !(item.content_html || item.content_text)) fail(`list.feed.json: ${item.title} has no content`)
}

// Each row of the table has as many cells as the header, or the parser throws.
const rows = parse(read('list.csv'), { bom: true, columns: true })
same('list.csv', 'key', rows.map(row => row.key), JSON.parse(read('list.csl.json')).map(item => item['citation-key'] ?? item.id))
same('list.csv', 'title', rows.slice(0, titles.length).map(row => row.title.replace(/^'(?=[=+\-@\t\r＝＋－＠])/, '')), titles)
if (rows.length !== list.count) fail(`list.csv: ${rows.length} rows, want ${list.count}`)

if (failures > 0) {
  console.error(`${failures} failures`)
  process.exit(1)
}
