// What the console says. The tools' own documentation is in English.

import { Text } from "../common/i18n";
import { language } from "./settings";

const words = {
  search: { en: "Search tools", th: "ค้นหาเครื่องมือ" },
  tools: { en: "Tools", th: "เครื่องมือ" },
  notListed: { en: "Also found, not listed", th: "พบเพิ่มเติม (ไม่อยู่ในรายการ)" },
  nothingFound: { en: "No tool fits these words.", th: "ไม่พบเครื่องมือที่ตรงกับคำค้น" },
  history: { en: "History", th: "ประวัติ" },
  clear: { en: "Clear", th: "ล้าง" },
  connect: { en: "Connect an agent", th: "เชื่อมต่อเอเจนต์" },
  connectHow: { en: "Cursor (.cursor/mcp.json) and Claude Code (.mcp.json) take this; VS Code calls it `servers`:", th: "ใช้กับ Cursor (.cursor/mcp.json) และ Claude Code (.mcp.json) ได้ทันที ส่วน VS Code ใช้ชื่อ `servers`:" },
  connectLocal: { en: "Clients that start a program: run `panoply setup claude`.", th: "ไคลเอนต์ที่เริ่มโปรแกรมเอง: ใช้คำสั่ง `panoply setup claude`" },
  close: { en: "Close", th: "ปิด" },
  dark: { en: "Dark", th: "มืด" },
  light: { en: "Light", th: "สว่าง" },
  other: { en: "ไทย", th: "English" },
  run: { en: "Run", th: "เรียกใช้" },
  running: { en: "Running…", th: "กำลังทำงาน…" },
  required: { en: "required", th: "จำเป็น" },
  unlessGiven: { en: "{value} unless given", th: "ค่าเริ่มต้น {value}" },
  onePerLine: { en: "one per line", th: "บรรทัดละหนึ่งค่า" },
  noArguments: { en: "This tool takes no arguments.", th: "เครื่องมือนี้ไม่ต้องการอาร์กิวเมนต์" },
  notJson: { en: "`{name}` is not JSON", th: "`{name}` ไม่ใช่ JSON" },
  examples: { en: "Examples", th: "ตัวอย่าง" },
  readsOnly: { en: "reads only", th: "อ่านอย่างเดียว" },
  changes: { en: "changes data", th: "แก้ไขข้อมูล" },
  reply: { en: "Reply", th: "คำตอบ" },
  picture: { en: "Picture", th: "ภาพ" },
  text: { en: "Text", th: "ข้อความ" },
  data: { en: "Data", th: "ข้อมูล" },
  hints: { en: "Hints", th: "คำแนะนำ" },
  audit: { en: "Audit", th: "บันทึก" },
  failed: { en: "The call failed", th: "การเรียกไม่สำเร็จ" },
  took: { en: "{ms} ms", th: "{ms} มิลลิวินาที" },
  share: { en: "Share this call", th: "แบ่งปันการเรียกนี้" },
  copyLink: { en: "Link", th: "ลิงก์" },
  copyCommand: { en: "Command", th: "คำสั่ง" },
  copyRpc: { en: "JSON-RPC", th: "JSON-RPC" },
  copy: { en: "Copy", th: "คัดลอก" },
  copied: { en: "Copied", th: "คัดลอกแล้ว" },
  next: { en: "Worth calling next", th: "เรียกใช้ต่อได้" },
  warnings: { en: "Warnings", th: "ข้อควรระวัง" },
  confidence: { en: "Confidence", th: "ความเชื่อมั่น" },
  noHints: { en: "No hints came with this reply.", th: "คำตอบนี้ไม่มีคำแนะนำ" },
  keyTitle: { en: "This server asks for a key", th: "เซิร์ฟเวอร์นี้ต้องใช้คีย์" },
  keyHow: { en: "Make one with `panoply keys create NAME` on the server. It is kept until this tab is closed.", th: "สร้างด้วยคำสั่ง `panoply keys create NAME` บนเซิร์ฟเวอร์ คีย์จะเก็บไว้จนกว่าจะปิดแท็บนี้" },
  keyWrong: { en: "The server does not accept this key.", th: "เซิร์ฟเวอร์ไม่รับคีย์นี้" },
  key: { en: "Key", th: "คีย์" },
  use: { en: "Use it", th: "ใช้คีย์นี้" },
  welcome: { en: "Choose a tool, fill in the form, run it.", th: "เลือกเครื่องมือ กรอกแบบฟอร์ม แล้วเรียกใช้" },
  welcomeMore: { en: "Everything here is what an agent sees over MCP: the same tools, the same replies, the same pictures.", th: "ทุกอย่างที่นี่คือสิ่งที่เอเจนต์เห็นผ่าน MCP: เครื่องมือ คำตอบ และภาพชุดเดียวกัน" },
  unreachable: { en: "The server does not answer", th: "เซิร์ฟเวอร์ไม่ตอบ" },
  unknownTool: { en: "There is no tool `{name}` here.", th: "ไม่มีเครื่องมือ `{name}`" },
} satisfies Record<string, Text>;

export function t(name: keyof typeof words): string {
  return words[name][language()];
}

/** What a pack is about. */
const packs: Record<string, Text> = {
  rmf: { en: "Thai retirement funds", th: "กองทุน RMF" },
  cgt: { en: "UK Capital Gains Tax", th: "ภาษีกำไรจากหลักทรัพย์ (สหราชอาณาจักร)" },
  ttm: { en: "Thai traditional medicine", th: "แพทย์แผนไทย" },
  noema: { en: "Cards and reviews", th: "บัตรคำและการทบทวน" },
  backtest: { en: "Backtest logs", th: "บันทึกการทดสอบกลยุทธ์" },
  kernel: { en: "About Panoply", th: "เกี่ยวกับ Panoply" },
};

export function packName(pack: string): string {
  return packs[pack]?.[language()] ?? pack;
}
