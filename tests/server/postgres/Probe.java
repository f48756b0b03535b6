import java.sql.*;
public class Probe {
  static void dump(String name, ResultSet r) throws Exception {
    ResultSetMetaData m = r.getMetaData(); int n = 0; StringBuilder b = new StringBuilder();
    while (r.next()) { n++; if (n <= 3) { for (int i = 1; i <= Math.min(4, m.getColumnCount()); i++) b.append(r.getString(i)).append('|'); b.append(' ');} }
    System.out.println("ok " + name + " rows=" + n + " " + b);
  }
  interface Call { ResultSet get() throws Exception; }
  static void tryIt(String name, Call c) { try (ResultSet r = c.get()) { dump(name, r); } catch (Exception e) { System.out.println("FAIL " + name + " " + e.getMessage().split("\n")[0]); } }
  public static void main(String[] a) throws Exception {
    Connection c = DriverManager.getConnection(a[0], a[1], a[2]);
    DatabaseMetaData m = c.getMetaData();
    System.out.println("ok product " + m.getDatabaseProductName() + " " + m.getDatabaseProductVersion());
    tryIt("getTables", () -> m.getTables(null, null, "%", new String[]{"TABLE","VIEW"}));
    tryIt("getColumns", () -> m.getColumns(null, "public", "visits", "%"));
    tryIt("getSchemas", () -> m.getSchemas());
    tryIt("getCatalogs", () -> m.getCatalogs());
    tryIt("getPrimaryKeys", () -> m.getPrimaryKeys(null, "public", "visits"));
    tryIt("getImportedKeys", () -> m.getImportedKeys(null, "public", "visits"));
    tryIt("getIndexInfo", () -> m.getIndexInfo(null, "public", "visits", false, true));
    tryIt("getTableTypes", () -> m.getTableTypes());
    tryIt("getTypeInfo", () -> m.getTypeInfo());
    tryIt("getProcedures", () -> m.getProcedures(null, null, "%"));
    tryIt("getFunctions", () -> m.getFunctions(null, null, "%"));
    tryIt("getTablePrivileges", () -> m.getTablePrivileges(null, "public", "visits"));
    tryIt("getBestRowIdentifier", () -> m.getBestRowIdentifier(null, "public", "visits", 0, true));
    tryIt("getUDTs", () -> m.getUDTs(null, "public", "%", null));
    try { System.out.println("ok keywords " + m.getSQLKeywords().length()); } catch (Exception e) { System.out.println("FAIL keywords " + e.getMessage()); }
    c.createStatement().execute("SET sfumato.epsilon = 0.2");
    for (int i = 0; i < 7; i++) { // the driver prepares on the server from the fifth on
      PreparedStatement p = c.prepareStatement("SELECT city, COUNT(*) AS n FROM visits WHERE age >= ? AND city <> ? GROUP BY city");
      p.setInt(1, 41); p.setString(2, "Roma"); ResultSet r = p.executeQuery(); r.next();
      if (i == 6) System.out.println("ok prepared " + r.getString(1) + " " + r.getLong(2) + " " + p.getWarnings());
    }
    PreparedStatement q = c.prepareStatement("SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city");
    for (int i = 0; i < 7; i++) { ResultSet r = q.executeQuery(); r.next(); if (i > 5) System.out.println("ok reused " + r.getLong("n") + " " + r.getDouble("m")); }
    c.setAutoCommit(false); Statement s = c.createStatement(); s.setFetchSize(2);
    ResultSet r = s.executeQuery("SELECT city, COUNT(*) AS n FROM visits GROUP BY city"); int n = 0; while (r.next()) n++; System.out.println("ok fetched " + n); c.rollback();
    try { s.executeQuery("SELECT * FROM visits"); } catch (SQLException e) { System.out.println("ok refused " + e.getSQLState() + " " + e.getMessage().replace("\n", " / ")); }
    c.rollback(); c.close();
  }
}
