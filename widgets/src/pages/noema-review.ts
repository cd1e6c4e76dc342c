// The page `noema-review`.

import { answer, question, reviewed } from "../noema/review";
import { start } from "../common/page";

start({ "get-next-card": question, "reveal-answer": answer, "submit-review": reviewed }, ({ data }) => {
  if (data?.data?.previews) return "reveal-answer";
  return data?.data?.rating ? "submit-review" : "get-next-card";
});
