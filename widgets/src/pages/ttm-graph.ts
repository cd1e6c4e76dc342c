// The page `ttm-graph`.

import { start } from "../common/page";
import { graph } from "../ttm/graph";

start({ query_kg: graph }, () => "query_kg");
