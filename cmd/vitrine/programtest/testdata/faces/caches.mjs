// Runs the tests of http-cache-tests against a cache: node caches.mjs URL. Prints a line for each test that is meant for
// shared caches: its kind, its id, and "pass" or what went wrong.
import fetch from 'node-fetch'
import { runTests, getResults } from 'http-cache-tests/client/runner.mjs'
import suites from 'http-cache-tests/tests/index.mjs'

await runTests(suites, fetch, false, process.argv[2])
const results = getResults()
for (const test of suites.flatMap((suite) => suite.tests)) {
  const result = results[test.id]
  if (result !== undefined) {
    console.log(test.kind ?? 'required', test.id, result === true ? 'pass' : result.join(': '))
  }
}
