// The five apps: address, name, what one can do there, and a question to try.

import type { Text } from "../common/i18n";

export interface AppInfo {
  path: string;
  /** Pack whose tools it calls. */
  pack: string;
  name: Text;
  /** Name in the bar. */
  short: Text;
  can: Text;
  question: Text;
  /** Section that answers the question. */
  section: string;
}

export const apps: AppInfo[] = [
  {
    path: "/rmf",
    pack: "rmf",
    short: { en: "Funds", th: "กองทุน" },
    name: { en: "Thai retirement funds", th: "กองทุน RMF" },
    can: { en: "Find and compare RMF funds, and see how much tax a purchase saves and what it may grow to.", th: "ค้นหาและเปรียบเทียบกองทุน RMF ดูว่าซื้อแล้วประหยัดภาษีได้เท่าไร และเงินอาจเติบโตแค่ไหน" },
    question: { en: "How much RMF may I buy this year?", th: "ปีนี้ซื้อ RMF ได้เท่าไร" },
    section: "planner",
  },
  {
    path: "/cgt",
    pack: "cgt",
    short: { en: "Tax", th: "ภาษี" },
    name: { en: "UK Capital Gains Tax", th: "ภาษีกำไรจากหุ้น (สหราชอาณาจักร)" },
    can: { en: "Drop your brokers' files and get each year's gains, the matching explained, and the boxes of SA108.", th: "วางไฟล์จากโบรกเกอร์ แล้วดูกำไรแต่ละปี เหตุผลการจับคู่ และช่องที่ต้องกรอกใน SA108" },
    question: { en: "What do I enter on my tax return?", th: "ต้องกรอกอะไรในแบบภาษี" },
    section: "files",
  },
  {
    path: "/study",
    pack: "noema",
    short: { en: "Study", th: "ทบทวน" },
    name: { en: "Study", th: "ทบทวนบัตรคำ" },
    can: { en: "Review flashcards when you are about to forget them; check cards that an agent drafted.", th: "ทบทวนบัตรคำก่อนจะลืม และตรวจบัตรที่เอเจนต์ร่างไว้" },
    question: { en: "What is due today?", th: "วันนี้ต้องทบทวนอะไร" },
    section: "decks",
  },
  {
    path: "/runs",
    pack: "backtest",
    short: { en: "Runs", th: "ผลทดสอบ" },
    name: { en: "Backtest runs", th: "ผลทดสอบกลยุทธ์" },
    can: { en: "Open a run: profit, drawdown, trades and events; compare two runs up to the first difference.", th: "เปิดดูผลทดสอบ: กำไร การลดลง การซื้อขาย เหตุการณ์ และเปรียบเทียบสองครั้งจนถึงจุดแรกที่ต่างกัน" },
    question: { en: "Where did the strategy lose money?", th: "กลยุทธ์ขาดทุนตรงไหน" },
    section: "runs",
  },
  {
    path: "/herbs",
    pack: "ttm",
    short: { en: "Herbs", th: "สมุนไพร" },
    name: { en: "Thai herbs", th: "สมุนไพรไทย" },
    can: { en: "Ask about herbs with cited answers, and check herbs against a patient's medicines.", th: "ถามเรื่องสมุนไพรพร้อมแหล่งอ้างอิง และตรวจสมุนไพรกับยาของผู้ป่วย" },
    question: { en: "May turmeric be taken with warfarin?", th: "ขมิ้นชันกินกับวาร์ฟารินได้ไหม" },
    section: "ask",
  },
];
