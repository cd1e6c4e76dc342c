// Thai names of the asset management companies, by the beginning of their registered name. The tools
// know the same ones: a test of the rmf crate compares this list with `companies.rs`.

export const COMPANIES: readonly (readonly [string, string])[] = [
  ["krungsri", "บลจ. กรุงศรี"],
  ["kasikorn", "บลจ. กสิกรไทย"],
  ["bbl", "บลจ. บัวหลวง"],
  ["scb", "บลจ. ไทยพาณิชย์"],
  ["krung thai", "บลจ. กรุงไทย"],
  ["tisco", "บลจ. ทิสโก้"],
  ["eastspring", "บลจ. อีสท์สปริง (ประเทศไทย)"],
  ["uob", "บลจ. ยูโอบี (ประเทศไทย)"],
  ["talis", "บลจ. ทาลิส"],
  ["one asset", "บลจ. วรรณ"],
  ["kiatnakin", "บลจ. เกียรตินาคินภัทร"],
  ["asset plus", "บลจ. แอสเซท พลัส"],
  ["mfc", "บลจ. เอ็มเอฟซี"],
  ["principal", "บลจ. พรินซิเพิล"],
  ["land and houses", "บลจ. แลนด์ แอนด์ เฮ้าส์"],
  ["aberdeen", "บลจ. อเบอร์ดีน (ประเทศไทย)"],
  ["bangkok capital", "บลจ. บางกอกแคปปิตอล"],
  ["daol", "บลจ. ดาโอ"],
  ["phillip", "บลจ. ฟิลลิป"],
  ["first plus", "บลจ. เฟิร์ส พลัส"],
  ["xspring", "บลจ. เอ็กซ์สปริง"],
];
