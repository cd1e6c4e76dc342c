// The page `rmf-fund-comparison`.

import { startRmf } from "../rmf/views";

startRmf("compare_rmf_funds");
