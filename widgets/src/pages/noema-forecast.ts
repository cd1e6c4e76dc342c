// The page `noema-forecast`.

import { forecast } from "../noema/forecast";
import { start } from "../common/page";

start({ "forecast-reviews": forecast }, () => "forecast-reviews");
