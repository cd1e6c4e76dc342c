// The page `backtest-run`.

import { context, run } from "../backtest/run";
import { start } from "../common/page";

start({ describe_run: run, get_context: context }, ({ data }) => (data?.before || data?.after ? "get_context" : "describe_run"));
