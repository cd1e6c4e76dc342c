// The page `rmf-saving-plan`.

import { startRmf } from "../rmf/views";

startRmf("simulate_rmf_plan");
