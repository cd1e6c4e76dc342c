// Which tool's reply is shown how. Every page of the pack has all of them: a list opens a fund,
// a fund its chart.

import { Reply } from "../common/bridge";
import { start, View } from "../common/page";
import { fundCard } from "./card";
import { performanceChart } from "./chart";
import { fundComparison } from "./comparison";
import { fundList } from "./list";
import { savingPlan } from "./plan";
import { ageBanner } from "./words";

/** The view with a banner when its figures are old. */
function dated(view: View): View {
  return {
    ...view,
    draw(reply, page) {
      const drawn = view.draw(reply, page);
      return drawn && [ageBanner(reply, page), ...drawn];
    },
  };
}

export const views: Record<string, View> = {
  get_rmf_funds: dated(fundList),
  search_rmf_funds: dated(fundList),
  get_rmf_fund_performance: dated(fundList),
  get_rmf_fund_detail: dated(fundCard),
  get_rmf_fund_nav_history: dated(performanceChart),
  get_rmf_fund_nav_series: dated(performanceChart),
  simulate_rmf_plan: dated(savingPlan),
  compare_rmf_funds: dated(fundComparison),
};

/** Starts the page of `tool`; other replies are known by what they have. */
export function startRmf(tool: string): void {
  start(views, ({ data }: Reply) => {
    if (data?.fund) return "get_rmf_fund_detail";
    if (data?.byYear) return "simulate_rmf_plan";
    if (data?.navHistory) return "get_rmf_fund_nav_history";
    if (data?.comparisonHighlights) return "compare_rmf_funds";
    return data?.funds ? "get_rmf_funds" : tool;
  });
}
