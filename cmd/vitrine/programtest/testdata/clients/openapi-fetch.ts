// A client made by openapi-typescript: each list's rows are typed.
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi-typescript";

type Schemas = components["schemas"];

const client = createClient<paths>({ baseUrl: process.argv[2] });

// only is the answer to a call that has to succeed.
function only<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

function want(what: string, holds: boolean): void {
  if (!holds) throw new Error(what);
}

async function main() {
  const html: Schemas["Citation"][] = only(await client.GET("/api/html", { params: { query: { limit: 2 } } })).data;
  want("two citations", html.length === 2 && html.every((row) => row.html.length > 0 && Array.isArray(row.departments)));

  const rows = only(await client.GET("/api/activities", {
    params: { query: { json: '{"type":"lecture"}', limit: 3 } },
  })) as Schemas["ActivityRows"];
  const labels: (string | undefined)[] = rows.data.map((row) => row.type);
  want("three lectures", rows.limit === 3 && labels.length === 3 && labels.every((label) => label === "Lectures"));

  const columns = only(await client.GET("/api/activities", {
    params: { query: { "columns[]": ["title", "authors.user"], filter: { type: "publication" }, limit: 1 } },
  })) as Schemas["ActivityColumns"];
  const title: Schemas["StoredText"] | undefined = columns.data[0].title;
  want("a title", typeof title === "string");

  const groups = only(await client.GET("/api/activities", { params: { query: { aggregate: "type" } } })) as Schemas["Groups"];
  const sizes: number[] = groups.data.map((group) => group.count);
  want("groups", sizes.length > 1 && groups.count === sizes.length);

  const persons = only(await client.GET("/api/search/persons", { params: { query: { limit: 1 } } })) as Schemas["FoundPersons"];
  const username = persons.data[0].username;
  want("a username", typeof username === "string");
  const person = only(await client.GET("/api/users/{id}", { params: { path: { id: String(username) } } })) as Schemas["PersonRecord"];
  want("the same person", person.data.username === username);

  const topics: Schemas["TopicSummary"][] = only(await client.GET("/portfolio/spectrum", { params: { query: { limit: 1 } } })).data;
  want("a share", topics[0].share > 0 && topics[0].timeline.every((year) => year.count > 0));

  const unit = only(await client.GET("/lists/{kind}/{id}", {
    params: { path: { kind: "unit", id: "ECO.json" }, query: { year: "2020..", group: "year", sort: "-title", facets: "type", deep: "1", limit: 2 } },
  })) as Schemas["PublicList"];
  want("two of a unit", unit.items.length === 2 && unit.facets.type.length > 0);

  const wrong = await client.GET("/api/levenshtein", { params: { query: { title: "" } } });
  want("an error", wrong.error?.count === 0 && wrong.error.msg.length > 0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
