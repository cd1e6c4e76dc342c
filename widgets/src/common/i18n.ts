// What every page says, in Thai and English. Pages keep their own words beside their code.

export type Lang = "en" | "th";
export type Text = Record<Lang, string>;

export const words = {
  loading: { en: "Loading…", th: "กำลังโหลด…" },
  empty: { en: "Nothing to show", th: "ไม่มีข้อมูลที่จะแสดง" },
  failed: { en: "That did not work", th: "ดำเนินการไม่สำเร็จ" },
  cancelled: { en: "The call was cancelled.", th: "การเรียกถูกยกเลิก" },
  noHost: { en: "Open this page from an agent: it shows what a tool replied.", th: "เปิดหน้านี้จากเอเจนต์: หน้านี้แสดงคำตอบของเครื่องมือ" },
  retry: { en: "Try again", th: "ลองอีกครั้ง" },
  back: { en: "Back", th: "กลับ" },
  asTable: { en: "Figures as a table", th: "ดูตัวเลขเป็นตาราง" },
  buddhistEra: { en: "{year} BE", th: "{year}" },
  commonEra: { en: "{year}", th: "ค.ศ. {year}" },
  toBuddhist: { en: "Years in the Buddhist era", th: "แสดงปีพุทธศักราช (พ.ศ.)" },
  missing: { en: "no figure", th: "ไม่มีข้อมูล" },
  previous: { en: "Previous", th: "ก่อนหน้า" },
  next: { en: "Next", th: "ถัดไป" },
  sortedDown: { en: "sorted, highest first", th: "เรียงจากมากไปน้อย" },
  sortedUp: { en: "sorted, lowest first", th: "เรียงจากน้อยไปมาก" },
  point: { en: "Point on the chart", th: "จุดบนกราฟ" },
  updated: { en: "Updated", th: "ปรับปรุงแล้ว" },
} satisfies Record<string, Text>;

/** Thai for any Thai locale, English for the rest. */
export function langOf(locale: string | undefined): Lang {
  return /^th\b/i.test(locale ?? "") ? "th" : "en";
}

/** Thai readers count years of the Buddhist era, unless the locale names a calendar: `th-TH-u-ca-gregory`. */
export function usesBuddhistEra(locale: string | undefined): boolean {
  const calendar = /-u-(?:.*-)?ca-(\w+)/i.exec(locale ?? "")?.[1];
  return calendar ? calendar.toLowerCase() === "buddhist" : langOf(locale) === "th";
}

/** Puts values into `{gaps}`. */
export function say(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (gap, name: string) => String(values[name] ?? gap));
}
