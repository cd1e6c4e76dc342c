// Starts GraphiQL over the server's own endpoint, with a first query that has an answer.
const firstQuery = `# Ctrl+Enter runs the query, Ctrl+Space completes it;
# the book on the left describes every field.
{
  queryKg(
    start: {type: "herb", id: "ขมิ้นชัน"}
    pattern: "herb->constituent->indication"
  ) {
    paths { id type label }
    notice { th en }
    audit { inHash outHash seedHex }
  }
}
`;
const fetcher = GraphiQL.createFetcher({ url: "graphql" });
const place = document.getElementById("graphiql");
place.style.height = "100vh";
document.body.style.margin = "0";
ReactDOM.createRoot(place).render(React.createElement(GraphiQL, { fetcher, defaultQuery: firstQuery }));
