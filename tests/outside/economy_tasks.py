"""Fifty tasks of users, ten a pack, each as the calls that an agent makes for it."""

RUN = "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"
TRADES = "2020-01-10 BUY ACME 100 @ 10\n2023-06-20 BUY ACME 50 @ 14\n2024-05-01 SELL ACME 120 @ 25"
ALL = {}


def task(function):
    ALL[function.__name__] = function
    return function


def needs(condition) -> None:
    if not condition:
        raise AssertionError("the reply does not have the answer")


# --- rmf ---------------------------------------------------------------------------------------


@task
def rmf_tax_saving(agent):
    needs(agent.call("calc_rmf_tax_benefit", annualIncome=1_200_000, providentFund=60_000))


@task
def rmf_one_fund(agent):
    needs(agent.call("get_rmf_fund_detail", fundCode="ABAPAC-RMF"))


@task
def rmf_nav_of_a_month(agent):
    needs(agent.call("get_rmf_fund_nav_history", fundCode="ABAPAC-RMF", days=30)["navHistory"])


@task
def rmf_best_of_a_year(agent):
    needs(len(agent.call("get_rmf_fund_performance", period="1y", limit=5)["funds"]) == 5)


@task
def rmf_compare_two(agent):
    needs(agent.call("compare_rmf_funds", fundCodes=["ABAPAC-RMF", "B-ASIARMF"]))


@task
def rmf_gold(agent):
    needs(agent.call("search_rmf_funds", search="gold", limit=5)["funds"])


@task
def rmf_cheap_global_equity(agent):
    needs(agent.call("screen_rmf_funds", search="global", category="EQUITY", maxRiskLevel=6, sortBy="fee", limit=5))


@task
def rmf_may_i_sell(agent):
    bought = [{"date": f"{year}-12-15"} for year in (2016, 2018, 2020, 2022)]
    needs(agent.call("check_rmf_holding", birthDate="1968-03-01", purchases=bought))


@task
def rmf_rank_among_peers(agent):
    needs(agent.call("get_rmf_peer_rank", fundCode="ABAPAC-RMF", period="1y"))


@task
def rmf_thai_company_then_fund(agent):
    found = agent.call("search_rmf_funds", search="บัวหลวง หุ้นโลก", limit=3)["funds"]
    needs(agent.call("get_rmf_fund_detail", fundCode=found[0]["symbol"]))


# --- cgt ---------------------------------------------------------------------------------------


@task
def cgt_report(agent):
    needs(agent.call("calculate_report", cgt_content=TRADES)["tax_years"])


@task
def cgt_why_matched(agent):
    needs(agent.call("explain_matching", cgt_content=TRADES, disposal_date="2024-05-01", ticker="ACME"))


@task
def cgt_tax_to_pay(agent):
    needs(agent.call("estimate_tax", cgt_content=TRADES, year=2024, taxable_income="60000"))


@task
def cgt_form_boxes(agent):
    needs(agent.call("sa108_summary", cgt_content=TRADES, year=2024, taxable_income="60000"))


@task
def cgt_dollar_rate(agent):
    needs(agent.call("get_fx_rate", currency="USD", year=2024, month=3)["rate"])


@task
def cgt_sale_in_dollars(agent):
    trades = "2023-02-01 BUY AAPL 10 @ 150 USD FEES 5 USD\n2024-06-03 SELL AAPL 10 @ 190 USD FEES 5 USD"
    needs(agent.call("calculate_report", cgt_content=trades, year=2024)["tax_years"])


@task
def cgt_broker_file(agent):
    text = "Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Total,Currency (Total)\nMarket buy,2023-01-05 10:00:00,US0378331005,AAPL,Apple,10,100.00,GBP,1,1000.00,GBP\nMarket sell,2024-05-05 10:00:00,US0378331005,AAPL,Apple,10,150.00,GBP,1,1500.00,GBP"
    made = agent.call("import_transactions", files=[{"name": "t212.csv", "content": text}])
    needs(agent.call("calculate_report", cgt_content=made["cgt_content"])["tax_years"])


@task
def cgt_buy_back_within_30_days(agent):
    trades = "2024-01-02 BUY A 100 @ 10\n2024-05-01 SELL A 100 @ 6"
    needs(agent.call("check_repurchase", cgt_content=trades, disposal_date="2024-05-01", ticker="A", quantity="100", price="6.50"))


@task
def cgt_typing_mistake(agent):
    seen = agent.call("calculate_report", _fails=True, cgt_content="2024-05-01 BOUGHT VOD 10 @ 1")
    needs("line 1" in seen and "BUY" in seen)
    needs(agent.call("calculate_report", cgt_content="2024-05-01 BUY VOD 10 @ 1\n2024-06-01 SELL VOD 10 @ 2"))


@task
def cgt_what_to_sell_before_april(agent):
    needs(agent.call("plan_disposals", cgt_content="2020-01-01 BUY A 1000 @ 10", year=2025, taxable_income="60000", prices=[{"ticker": "A", "price": "16"}]))


# --- backtest ----------------------------------------------------------------------------------


@task
def backtest_which_runs(agent):
    run = agent.call("list_backtest_runs")["runs"][0]["runId"]
    needs(agent.call("describe_run", runId=run)["types"])


@task
def backtest_rejections_by_reason(agent):
    needs(agent.call("query_events", runId=RUN, eventType="OrderRejection", groupBy=["RejectionReason"], top=0))


@task
def backtest_profit_at_a_time(agent):
    needs(agent.call("get_state_snapshot", runId=RUN, timestamp="2017-05-10T12:00:00Z", includeIndicators=False))


@task
def backtest_worst_drawdown(agent):
    needs(agent.call("get_performance", runId=RUN, initialCapital=1_000_000, drawdowns=1))


@task
def backtest_fills_without_update(agent):
    needs(agent.call("query_event_sequence", runId=RUN, sequencePattern=["TradeExecution", "PositionUpdate"], findIncomplete=True, pageSize=3, handles=True))


@task
def backtest_slippage_by_security(agent):
    needs(agent.call("aggregate_metrics", runId=RUN, eventType="TradeExecution", propertyPath="$.Slippage", aggregations=["avg", "max"], groupBy="SecuritySymbol"))


@task
def backtest_largest_loss_and_why(agent):
    trade = agent.call("list_trades", runId=RUN, outcome="loss", sortBy="profit", pageSize=1)
    needs(trade)
    needs(agent.call("get_context", runId=RUN, timestamp="2017-05-16T12:00:00Z", before=3, after=3))


@task
def backtest_rejected_orders_as_a_table(agent):
    needs(agent.call("get_events_by_type", runId=RUN, eventType="OrderRejection", format="table", handles=True))


@task
def backtest_clean_data(agent):
    needs(agent.call("get_validation_errors", runId=RUN, format="table", handles=True)["metadata"]["totalCount"])


@task
def backtest_commission_of_may(agent):
    needs(agent.call("aggregate_metrics", runId=RUN, eventType="TradeExecution", propertyPath="$.Commission", aggregations=["sum"], startTime="2017-05-01T00:00:00Z", endTime="2017-05-31T23:59:59Z"))


# --- noema -------------------------------------------------------------------------------------


def deck(agent, name: str) -> str:
    return agent.call("create-deck", name=name)["deck"]["deckId"]


@task
def noema_deck_of_ten(agent):
    notes = [{"front": f"herb {number}?", "back": f"use {number}"} for number in range(10)]
    made = agent.call("create-cards", deckId=deck(agent, "Thai herbs"), notes=notes)
    needs(made["made"] == 10)


@task
def noema_approve_drafts(agent):
    drafts = agent.call("search-cards", query="is:draft deck:\"Thai herbs\"")["cards"]
    needs(agent.call("approve-drafts", cardIds=[row["cardId"] for row in drafts])["changed"] == 10)


@task
def noema_study_a_card(agent):
    card = agent.call("get-next-card")["card"]
    token = agent.call("reveal-answer", token=card["token"])["token"]
    needs(agent.call("submit-review", token=token, rating="good"))


@task
def noema_what_is_due(agent):
    needs(agent.call("list-decks")["decks"])


@task
def noema_undo_a_rating(agent):
    needs(agent.call("undo-review")["cardId"])


@task
def noema_reviews_this_week(agent):
    needs(agent.call("forecast-reviews", days=7))


@task
def noema_leeches(agent):
    needs("leeches" in agent.call("list-leeches"))


@task
def noema_correct_a_card(agent):
    row = agent.call("search-cards", query="herb 3", limit=1)["cards"][0]
    needs(agent.call("update-card", cardId=row["cardId"], fields={"Back": "use three"})["version"] == 2)


@task
def noema_retention(agent):
    needs(agent.call("get-stats"))


@task
def noema_one_card(agent):
    found = agent.call("search-decks", query="herbs")["decks"][0]
    needs(agent.call("create-card", deckId=(found.get("deck") or found)["deckId"], front="capital of Thailand?", back="Bangkok", draft=False))


# --- ttm ---------------------------------------------------------------------------------------


@task
def ttm_herbs_for_bloating(agent):
    needs(agent.call("hybrid_search", query="สมุนไพรแก้ท้องอืด", top_k=5)["hits"])


@task
def ttm_turmeric_with_warfarin(agent):
    needs(agent.call("find_contraindications", herb_ids=["H:turmeric"], drugs=["warfarin"], limit=5)["results"])


@task
def ttm_ingredients(agent):
    needs(agent.call("query_kg", start={"type": "formulation", "id": "F:nlem-25"}, pattern="formulation->herb", filters={"limit": 10}))


@task
def ttm_answer_with_citations(agent):
    needs(agent.call("rag_answer", question="Which herbs are used for bloating?")["citations"])


@task
def ttm_papers(agent):
    needs(agent.call("hybrid_search", query="andrographis clinical trial", filters={"type": "paper"}, top_k=3))


@task
def ttm_constituents(agent):
    needs(agent.call("query_kg", start={"type": "herb", "id": "H:turmeric"}, pattern="herb->constituent", filters={"limit": 5}))


@task
def ttm_colloquial_thai(agent):
    needs(agent.call("hybrid_search", query="ท้องอืดกินไรดีอะ", top_k=3)["hits"])


@task
def ttm_safe_in_pregnancy(agent):
    needs(agent.call("find_contraindications", herb_ids=["H:andrographis"], pregnancy=True, limit=5)["results"])


@task
def ttm_haemorrhoids(agent):
    needs(agent.call("query_kg", start={"type": "indication", "id": "K64.9"}, pattern="indication<-herb", filters={"limit": 5}))


@task
def ttm_any_name_to_id(agent):
    needs(agent.call("hybrid_search", query="ฟ้าทะลายโจร", top_k=1)["hits"][0]["id"])
