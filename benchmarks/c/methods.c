#include <math.h>
// Rows of T: q0, q1, p0, p1. Kepler's problem, kick-drift-kick.
void kepler(double*restrict T,long N,double h){
 double x=T[0],y=T[1],u=T[2],v=T[3];
 for(long k=0;k<N;k++){
  double r2=x*x+y*y,f=1/(r2*sqrt(r2)); u-=.5*h*f*x; v-=.5*h*f*y;
  x+=h*u; y+=h*v;
  r2=x*x+y*y; f=1/(r2*sqrt(r2)); u-=.5*h*f*x; v-=.5*h*f*y;
  double*O=T+4*(k+1); O[0]=x;O[1]=y;O[2]=u;O[3]=v;
 }}
// Henon-Heiles, implicit midpoint: d = h p - h^2/2 V'(q + d/2), Newton's method to round-off from the last step.
void henon_heiles(double*restrict T,long N,double h,double tol){
 double x=T[0],y=T[1],u=T[2],v=T[3],a=h*u,b=h*v;
 for(long k=0;k<N;k++){
  for(int it=0;it<20;it++){
   double X=x+.5*a,Y=y+.5*b;
   double f=a-h*u+.5*h*h*(X+2*X*Y),g=b-h*v+.5*h*h*(Y+X*X-Y*Y);
   double J00=1+.25*h*h*(1+2*Y),J01=.5*h*h*X,J11=1+.25*h*h*(1-2*Y);
   double id=1/(J00*J11-J01*J01),da=(J11*f-J01*g)*id,db=(J00*g-J01*f)*id;
   a-=da; b-=db; if(fmax(fabs(da),fabs(db))<tol) break;
  }
  double X=x+.5*a,Y=y+.5*b;
  x+=a; y+=b; u-=h*(X+2*X*Y); v-=h*(Y+X*X-Y*Y);
  double*O=T+4*(k+1); O[0]=x;O[1]=y;O[2]=u;O[3]=v;
 }}
