// The page `rmf-fund-list`.

import { startRmf } from "../rmf/views";

startRmf("get_rmf_funds");
