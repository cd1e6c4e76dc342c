// The page `rmf-fund-card`.

import { startRmf } from "../rmf/views";

startRmf("get_rmf_fund_detail");
