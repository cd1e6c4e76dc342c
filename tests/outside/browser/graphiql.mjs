// GraphiQL: it starts, knows the schema, runs its first query, and asks nobody but our server.
import { tab } from "./console.mjs";
import { check, includes, same } from "./judge.mjs";

export async function judgeGraphiql(kit, server) {
  const { context, page, seen } = await tab(kit, server, {});
  try {
    await page.goto(`${server.base}/graphql`);
    await page.locator(".graphiql-container").waitFor();
    await page.getByRole("button", { name: /^Execute query/ }).click();
    const reply = page.locator(".result-window");
    await reply.getByText("C:curcumin").first().waitFor();
    includes(await reply.innerText(), "H:turmeric", "GraphiQL: the reply to the first query");
    await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
    await page.locator(".graphiql-doc-explorer").getByText("Query", { exact: true }).first().click();
    for (const field of ["queryKg", "hybridSearch", "findContraindications"]) {
      check(await page.locator(".graphiql-doc-explorer").getByText(field, { exact: true }).first().isVisible(), `GraphiQL: the documentation has ${field}`);
    }
    if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
    same(seen.strangers.join(" "), "", "GraphiQL: requests to strangers");
    same(seen.complaints.join(" "), "", "GraphiQL: complaints");
  } finally {
    await context.close();
  }
}
