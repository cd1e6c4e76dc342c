// The page `cgt-report`.

import { report } from "../cgt/report";
import { start } from "../common/page";

start({ calculate_report: report }, () => "calculate_report");
