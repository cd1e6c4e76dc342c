// The page `rmf-performance-chart`.

import { startRmf } from "../rmf/views";

startRmf("get_rmf_fund_nav_history");
